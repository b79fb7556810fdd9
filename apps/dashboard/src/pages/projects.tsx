import { Alert, Button, Center, Group, Stack, Text, Title } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import { useDisclosure } from '@mantine/hooks';
import { lazy, type ReactNode, Suspense } from 'react';
import { Provider } from 'urql';
import { useSession } from '../app/session.tsx';
import { signOut } from '../app/sign-out.ts';
import { useApiQuery } from '../data/api-query.ts';
import { clientFor } from '../data/client.ts';
import { graphql } from '../generated/gql.ts';
import { TextLink } from '../components/link.tsx';
import { NotificationArea } from '../components/notify.tsx';
import { useTitle } from '../components/page.tsx';
import { ROLES } from './settings/roles.ts';
import { AuthLayout } from './sign-in/auth-layout.tsx';

const NewProject = lazy(() => import('../app/new-project.tsx'));

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The name of a project that the user has just ceased to be a member of. */
    left?: string;
  }
}

/** The user's projects, for those who have left one or have none. */
export function Projects() {
  const left = useLocation({ select: ({ state }) => state.left });
  return (
    <ProjectList title="Your projects">
      {left !== undefined && (
        // The page it was on is gone, and the focus with it.
        <Alert color="gray" role="status" tabIndex={-1} ref={(alert) => alert?.focus()} className="breakable">
          You are no longer a member of {left}, or it was deleted.
        </Alert>
      )}
    </ProjectList>
  );
}

/** In place of a project that does not exist or that the user can't access. */
export function NoSuchProject() {
  return (
    <ProjectList title="Not found">
      <Text size="sm">There is no such project, or you are not a member of it. Check the URL.</Text>
    </ProjectList>
  );
}

function ProjectList({ title, children }: { title: string; children: ReactNode }) {
  const { me, projects } = useSession();
  return (
    <AuthLayout title={title}>
      <Stack>
        {children}
        {projects.map(({ id, name, role }) => (
          <Group key={id} justify="space-between" wrap="nowrap" gap="xs">
            <TextLink to="/p/$projectId" params={{ projectId: id }} fw={550} className="breakable">
              {name}
            </TextLink>
            <Text size="sm" c="dimmed">
              {ROLES[role].label}
            </Text>
          </Group>
        ))}
        <Provider value={clientFor('')}>
          <Creation />
        </Provider>
        <Group justify="space-between" gap="xs" mt="sm">
          <Text size="xs" c="dimmed" className="breakable">
            Signed in as {me.email}
          </Text>
          <Button variant="default" size="compact-sm" onClick={() => void signOut()}>
            Sign out
          </Button>
        </Group>
        <NotificationArea />
      </Stack>
    </AuthLayout>
  );
}

const MAY_CREATE_PROJECT = graphql(`
  query MayCreateProject {
    mayCreateProject
  }
`);

/** Creates a project; tells a user who has none and may not that they need an invitation. */
function Creation() {
  const { projects } = useSession();
  const { data } = useApiQuery(MAY_CREATE_PROJECT, {});
  const mayCreate = data?.mayCreateProject === true;
  const [creating, { open, close }] = useDisclosure(false);
  return (
    <>
      {projects.length === 0 && (
        <Text size="sm">
          You are not a member of any project. {mayCreate ? 'Create one, or ask' : 'Ask'} an owner or admin of one for
          an invitation.
        </Text>
      )}
      {mayCreate && (
        <Button variant={projects.length === 0 ? 'filled' : 'default'} onClick={open}>
          New project
        </Button>
      )}
      {creating && (
        <Suspense>
          <NewProject opened onClose={close} />
        </Suspense>
      )}
    </>
  );
}

/** The 404 page outside of a project. */
export function NotFound() {
  useTitle('Not found');
  return (
    <Center mih="60vh" p="md" component="main">
      <Stack align="center" gap="xs">
        <Title order={1}>Not found</Title>
        <Text c="dimmed" ta="center" maw={420}>
          Check the URL. There is no such page.
        </Text>
        <TextLink to="/">Go to your projects</TextLink>
      </Stack>
    </Center>
  );
}
