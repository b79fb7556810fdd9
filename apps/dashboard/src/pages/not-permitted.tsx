import { IconLock } from '@tabler/icons-react';
import { useProject } from '../app/session.tsx';
import { ButtonLink } from '../components/link.tsx';
import { Page } from '../components/page.tsx';
import { Empty } from '../components/states.tsx';

/** In place of a page that the user's role doesn't include. */
export function NotPermitted() {
  const { id: projectId, role } = useProject();
  return (
    <Page title="No access">
      <Empty
        title="You can’t open this page"
        icon={IconLock}
        action={
          <ButtonLink to="/p/$projectId" params={{ projectId }} variant="default">
            Go to Home
          </ButtonLink>
        }
      >
        Your role in this project, {role}, does not include it. An owner or an admin can change your role.
      </Empty>
    </Page>
  );
}
