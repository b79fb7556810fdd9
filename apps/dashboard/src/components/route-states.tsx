import { Button, Skeleton, Stack } from '@mantine/core';
import { IconAlertTriangle, IconCloudOff } from '@tabler/icons-react';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { PageOffline } from '../app/lazy-page.ts';
import { NOT_RESPONDING, RESPONSE_TIMEOUT_MS } from '../data/problem.ts';
import { Empty, LinesSkeleton } from './states.tsx';

const reload = () => window.location.reload();

/** Shown while a page's code loads. */
export function PagePending() {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), RESPONSE_TIMEOUT_MS);
    return () => clearTimeout(timer);
  }, []);
  if (isLate) {
    return (
      <Empty
        title="No connection"
        icon={IconCloudOff}
        color="red"
        action={
          <Button variant="default" onClick={reload}>
            Try again
          </Button>
        }
      >
        {NOT_RESPONDING.message}
      </Empty>
    );
  }
  return (
    <Stack maw={1120} mx="auto" role="status" aria-label="Loading">
      <Skeleton h={28} w={220} />
      <LinesSkeleton />
    </Stack>
  );
}

/** Shown when a page's code fails to load or throws. After an upgrade, a reload fetches the new code. */
export function LoadFailed({ error }: ErrorComponentProps) {
  if (error instanceof PageOffline) return <NotLoaded />;
  return (
    <Empty
      title="This page could not be loaded"
      icon={IconAlertTriangle}
      color="red"
      action={<Button onClick={reload}>Reload</Button>}
    >
      Postroom may have been updated while this page was open, or the connection was lost. (
      {error instanceof Error ? error.message : String(error)})
    </Empty>
  );
}

/** The code of the page is missing offline. The browser remembers failed imports, so only a reload tries again. */
function NotLoaded() {
  useEffect(() => {
    window.addEventListener('online', reload);
    return () => window.removeEventListener('online', reload);
  }, []);
  return (
    <Empty title="You are offline" icon={IconCloudOff} color="red">
      This page was not loaded before the connection was lost. It opens as soon as you are online again.
    </Empty>
  );
}
