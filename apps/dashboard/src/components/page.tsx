import { Box, Group, Stack, Text, Title } from '@mantine/core';
import { IconChevronLeft } from '@tabler/icons-react';
import { type ReactNode, useEffect } from 'react';
import { useProject } from '../app/session.tsx';

/** Names the page in the browser's tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Postroom`;
  }, [title]);
}

/** Pages are as wide as this unless they ask for more; narrower ones begin where these do. */
const WIDE = 1120;

interface PageProps {
  title: string;
  /** A sentence on what the page is for. */
  about?: ReactNode;
  /** What stands beside the title, such as a badge of the state. */
  mark?: ReactNode;
  /** A link to the list that this is one of: `<BackLink to=…>`. */
  back?: ReactNode;
  /** Buttons, the most important one last. */
  actions?: ReactNode;
  /** How wide the content may grow, in pixels; forms read better narrow. */
  width?: number;
  children: ReactNode;
}

/** A page of a project: its title in the tab and as the only first heading, then its content. */
export function Page({ title, about, mark, back, actions, width, children }: PageProps) {
  const { name } = useProject();
  useTitle(`${title} · ${name}`);
  return (
    <Box maw={Math.max(WIDE, width ?? 0)} mx="auto">
      <Box maw={width}>
        {back}
        <Group justify="space-between" align="flex-start" mb="lg" gap="md">
          <Stack gap={4} maw={720} miw={0}>
            <Group gap="sm">
              <Title order={1} className="breakable">
                {title}
              </Title>
              {mark}
            </Group>
            {about !== undefined && (
              <Text c="dimmed" size="sm">
                {about}
              </Text>
            )}
          </Stack>
          {actions !== undefined && <Group gap="xs">{actions}</Group>}
        </Group>
        <Stack gap="lg">{children}</Stack>
      </Box>
    </Box>
  );
}

/** Goes inside the link of `back`. */
export function BackLabel({ children }: { children: string }) {
  return (
    <Group component="span" gap={4} wrap="nowrap" display="inline-flex" mb="xs">
      <IconChevronLeft size={16} aria-hidden />
      {children}
    </Group>
  );
}

/** A part of a page under a second heading. */
export function Section({
  title,
  about,
  actions,
  children,
}: {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section aria-label={title}>
      <Group justify="space-between" align="flex-end" mb="xs" gap="sm">
        <Stack gap={2}>
          <Title order={2}>{title}</Title>
          {about !== undefined && (
            <Text c="dimmed" size="sm">
              {about}
            </Text>
          )}
        </Stack>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </section>
  );
}
