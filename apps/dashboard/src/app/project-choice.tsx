import { Text, UnstyledButton } from '@mantine/core';
import { IconSelector } from '@tabler/icons-react';
import { LazyMenu } from '../components/lazy-menu.tsx';
import { useProject } from './session.tsx';

const load = async () => (await import('./project-menu.tsx')).default;

/** The project switcher. */
export function ProjectChoice() {
  const { name } = useProject();
  return (
    <LazyMenu
      load={load}
      button={
        <UnstyledButton className="choice" aria-label={`Project ${name}. Switch project`}>
          <Text size="sm" fw={550} truncate maw={{ base: 110, xs: 200 }}>
            {name}
          </Text>
          <IconSelector size={15} aria-hidden />
        </UnstyledButton>
      }
    />
  );
}
