import { Box, Card, SimpleGrid, Text } from '@mantine/core';
import { Children, type ReactNode } from 'react';
import type { Tone } from './badge.tsx';

/** The maximum number of stats per row on a wide screen. */
const IN_A_ROW = 7;

/** A labeled row of stats. */
export function Stats({ label, about, children }: { label: string; about?: ReactNode; children: ReactNode }) {
  const wide = Math.min(Math.max(Children.toArray(children).length, 6), IN_A_ROW);
  return (
    <Card p={0} component="section" aria-label={label}>
      <Text size="xs" fw={600} c="dimmed" px="md" pt="sm">
        {label}
      </Text>
      <SimpleGrid cols={{ base: 2, xs: 3, md: wide }} spacing="sm" px="md" pb="md" pt="xs" verticalSpacing="sm">
        {children}
      </SimpleGrid>
      {about !== undefined && (
        <Box px="md" pb="sm">
          {about}
        </Box>
      )}
    </Card>
  );
}

/** One stat, optionally with a tone. */
export function Stat({
  label,
  value,
  tone,
  detail,
  change,
}: {
  label: string;
  /** A figure, or a link to what is behind it. */
  value: ReactNode;
  tone?: Tone | undefined;
  /** A base or comparison, such as "of 200 sent". */
  detail?: ReactNode;
  /** The change since an earlier period. */
  change?: ReactNode;
}) {
  return (
    <div className={tone === undefined ? undefined : `figure-${tone}`}>
      <Text size="xl" fw={650} lh={1.3} className="tabular figure-value">
        {typeof value === 'number' ? value.toLocaleString() : value}
      </Text>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      {detail !== undefined && (
        <Text size="xs" c="dimmed">
          {detail}
        </Text>
      )}
      {change}
    </div>
  );
}
