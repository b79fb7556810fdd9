import { Center, Stack, Text, Title } from '@mantine/core';
import { IconMoodEmpty } from '@tabler/icons-react';
import { useProject } from '../app/session.tsx';
import { ButtonLink, TextLink } from '../components/link.tsx';
import { Page, useTitle } from '../components/page.tsx';
import { Empty } from '../components/states.tsx';

/** For addresses that name no page of a project. */
export function NoSuchPage() {
  const { id: projectId } = useProject();
  return (
    <Page title="There is nothing here">
      <Empty
        title="No such page"
        icon={IconMoodEmpty}
        action={
          <ButtonLink to="/p/$projectId" params={{ projectId }} variant="default">
            Go to Home
          </ButtonLink>
        }
      >
        The address may be mistyped. The pages of the project are in the navigation.
      </Empty>
    </Page>
  );
}

/** For addresses that name nothing, or nothing that this person may see. */
export function NotFound() {
  useTitle('Not found');
  return (
    <Center mih="60vh" p="md" component="main">
      <Stack align="center" gap="xs">
        <Title order={1}>There is nothing here</Title>
        <Text c="dimmed" ta="center" maw={420}>
          The address may be mistyped, or it belongs to a project that you are not in.
        </Text>
        <TextLink to="/">Go to your projects</TextLink>
      </Stack>
    </Center>
  );
}
