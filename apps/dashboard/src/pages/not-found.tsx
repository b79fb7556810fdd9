import { Center, Stack, Text, Title } from '@mantine/core';
import { TextLink } from '../parts/link.tsx';
import { useTitle } from '../parts/page.tsx';

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
