import { Alert, Group, Text, Tooltip } from '@mantine/core';
import { useNetwork } from '@mantine/hooks';
import { IconCloudOff } from '@tabler/icons-react';
import { useLiveState } from '../data/live.ts';

const WORDS = {
  live: ['Live', 'This page updates automatically.'],
  connecting: ['Connecting', 'Live updates will resume shortly.'],
  offline: ['Offline', 'Live updates resume when the connection is back.'],
} as const;

/** The header's indicator of live updates. */
export function LiveIndicator() {
  const state = useLiveState();
  if (state === 'off') return null;
  const [word, meaning] = WORDS[state];
  return (
    <Tooltip label={meaning}>
      <Group gap={6} wrap="nowrap" className={`live live-${state}`}>
        <span aria-hidden className="live-dot" />
        <Text size="xs" c="dimmed" visibleFrom="xs">
          {word}
        </Text>
      </Group>
    </Tooltip>
  );
}

/** A banner on every page while the browser is offline. The page keeps showing stale data. */
export function OfflineBanner() {
  const { online } = useNetwork();
  if (online) return null;
  return (
    <Alert color="yellow" icon={<IconCloudOff aria-hidden />} mb="md" role="alert" variant="light">
      You are offline. Data may be out of date, and changes can't be saved until you reconnect.
    </Alert>
  );
}
