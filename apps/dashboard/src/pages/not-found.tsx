import { Center, Stack, Text, Title } from '@mantine/core';
import { IconMoodEmpty } from '@tabler/icons-react';
import { useProject } from '../app/session.tsx';
import { ButtonLink, TextLink } from '../components/link.tsx';
import { Page, useTitle } from '../components/page.tsx';
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

/** The 404 page outside a project, also for projects the user can't access. */
export function NotFound() {
  useTitle('Not found');
  return (
    <Center mih="60vh" p="md" component="main">
      <Stack align="center" gap="xs">
        <Title order={1}>Not found</Title>
        <Text c="dimmed" ta="center" maw={420}>
          Check the URL. The page may belong to a project you are not a member of.
        </Text>
        <TextLink to="/">Go to your projects</TextLink>
      </Stack>
    </Center>
  );
}
