import { IconLock, IconMoodEmpty } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useProject } from '../app/session.tsx';
import { ButtonLink } from '../components/link.tsx';
import { Page } from '../components/page.tsx';
import { Empty } from '../components/states.tsx';

/** The 404 page inside a project. */
export function NoSuchPage() {
  return (
    <NoPage heading="Not found" title="Page not found" icon={IconMoodEmpty}>
      Check the URL, or choose a page from the navigation.
    </NoPage>
  );
}

/** In place of a page that the user's role doesn't include. */
export function NotPermitted() {
  const { role } = useProject();
  return (
    <NoPage heading="No access" title="You can’t open this page" icon={IconLock}>
      Your role in this project, {role}, does not include it. An owner or an admin can change your role.
    </NoPage>
  );
}

function NoPage({
  heading,
  title,
  icon,
  children,
}: {
  heading: string;
  title: string;
  icon: typeof IconLock;
  children: ReactNode;
}) {
  const { id: projectId } = useProject();
  return (
    <Page title={heading}>
      <Empty
        title={title}
        icon={icon}
        action={
          <ButtonLink to="/p/$projectId" params={{ projectId }} variant="default">
            Go to Home
          </ButtonLink>
        }
      >
        {children}
      </Empty>
    </Page>
  );
}
