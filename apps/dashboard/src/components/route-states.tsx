import { Button, Skeleton, Stack } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { Empty, LinesSkeleton } from './states.tsx';

/** Shown while a page's code loads. */
export function PagePending() {
  return (
    <Stack maw={1120} mx="auto" role="status" aria-label="Loading">
      <Skeleton h={28} w={220} />
      <LinesSkeleton />
    </Stack>
  );
}

/** Shown when a page's code fails to load or throws. After an upgrade, a reload fetches the new code. */
export function LoadFailed({ error }: ErrorComponentProps) {
  return (
    <Empty
      title="This page could not be loaded"
      icon={IconAlertTriangle}
      color="red"
      action={<Button onClick={() => window.location.reload()}>Reload</Button>}
    >
      Postroom may have been updated while this page was open, or the connection was lost. (
      {error instanceof Error ? error.message : String(error)})
    </Empty>
  );
}
