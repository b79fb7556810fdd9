import { Alert, Group, Text } from '@mantine/core';
import { IconCloudOff } from '@tabler/icons-react';
import { useLiveState } from '../data/live.ts';
import { useOnline } from '../data/network.ts';
import { WIDE } from './page.tsx';

const LABELS = {
  live: ['Live', 'This page updates automatically.'],
  connecting: ['Connecting', 'Live updates will resume shortly.'],
  offline: ['Offline', 'Live updates resume when the connection is back.'],
} as const;

/** The header's indicator of live updates. */
export function LiveIndicator() {
  const state = useLiveState();
  const isOnline = useOnline();
  if (state === 'off') return null;
  // A stream notices a moment later than the browser that the connection is gone.
  const [label, meaning] = LABELS[isOnline ? state : 'offline'];
  return (
    <Group gap={6} wrap="nowrap" title={meaning} className={`live live-${isOnline ? state : 'offline'}`}>
      <span aria-hidden className="live-dot" />
      <Text size="xs" c="dimmed" visibleFrom="xs">
        {label}
      </Text>
    </Group>
  );
}

/** A banner on every page while the browser is offline. The page keeps showing stale data. */
export function OfflineBanner() {
  if (useOnline()) return null;
  return (
    <Alert color="yellow" icon={<IconCloudOff aria-hidden />} maw={WIDE} mx="auto" mb="md" role="alert" variant="light">
      You are offline. Data may be out of date, and changes can't be saved until you reconnect.
    </Alert>
  );
}
