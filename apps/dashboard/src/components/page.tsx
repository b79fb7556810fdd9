import { Box, Group, Stack, Text, Title } from '@mantine/core';
import { IconChevronLeft } from '@tabler/icons-react';
import { type ReactNode, useEffect } from 'react';
import { useProject } from '../app/session.tsx';

/** Sets the browser tab title. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Postroom`;
  }, [title]);
}

/** The default page width, in pixels. Narrower pages align with its left edge. */
export const WIDE = 1120;

interface PageProps {
  title: string;
  /** A sentence describing the page. */
  about?: ReactNode;
  /** Rendered next to the title, such as a status badge. */
  mark?: ReactNode;
  /** A link back to the list: `<BackLink to=…>`. */
  back?: ReactNode;
  /** Buttons, primary last. */
  actions?: ReactNode;
  /** The maximum content width, in pixels. */
  width?: number;
  children: ReactNode;
}

/** A project page. Sets the tab title and the only `h1`. */
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
              <Text c="dimmed" size="sm" className="breakable">
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

/** The content of the `back` link. */
export function BackLabel({ children }: { children: string }) {
  return (
    <Group component="span" gap={4} wrap="nowrap" display="inline-flex" mb="xs" className="breakable back-label">
      <IconChevronLeft size={16} style={{ flex: 'none' }} aria-hidden />
      {children}
    </Group>
  );
}

/** A page section with an `h2`. */
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
