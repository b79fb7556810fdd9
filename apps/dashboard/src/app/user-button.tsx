import { Avatar, UnstyledButton } from '@mantine/core';
import { LazyMenu } from '../components/lazy-menu.tsx';
import { useSession } from './session.tsx';

const load = async () => (await import('./user-menu.tsx')).default;

/** The button of the user menu. */
export function UserButton() {
  const { me } = useSession();
  return (
    <LazyMenu
      load={load}
      button={
        <UnstyledButton className="round">
          <span className="visually-hidden">Signed in as {me.name}. Open account menu</span>
          <Avatar name={me.name} color="pine" size={32} radius="xl" aria-hidden />
        </UnstyledButton>
      }
    />
  );
}
