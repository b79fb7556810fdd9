import { Box, Card, Center, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Logo } from '../../components/logo.tsx';
import { useTitle } from '../../components/page.tsx';

/** The card layout of pages shown before sign-in. */
export function AuthLayout({ title, children }: { title: string; children: ReactNode }) {
  useTitle(title);
  return (
    <Center mih="100vh" p="md" component="main">
      <Stack w="100%" maw={400} align="center" gap="lg">
        <Logo />
        <Card w="100%" p="xl">
          <Title order={1} mb="lg">
            {title}
          </Title>
          {children}
        </Card>
        <Box h={24} />
      </Stack>
    </Center>
  );
}
