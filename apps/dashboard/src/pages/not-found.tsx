import { IconMoodEmpty } from '@tabler/icons-react';
import { useProject } from '../app/session.tsx';
import { ButtonLink } from '../components/link.tsx';
import { Page } from '../components/page.tsx';
import { Empty } from '../components/states.tsx';

/** The 404 page inside a project. */
export function NoSuchPage() {
  const { id: projectId } = useProject();
  return (
    <Page title="Not found">
      <Empty
        title="Page not found"
        icon={IconMoodEmpty}
        action={
          <ButtonLink to="/p/$projectId" params={{ projectId }} variant="default">
            Go to Home
          </ButtonLink>
        }
      >
        Check the URL, or choose a page from the navigation.
      </Empty>
    </Page>
  );
}
