import { Pill } from '@mantine/core';
import type { TimeRange } from '../data/time-range.ts';
import { formatDayAndTime } from './when.tsx';

/** An active filter of a list, with a button that removes it. */
export function FilterPill({ label, onRemove }: { label: string; onRemove: () => void }) {
  return (
    <Pill
      size="md"
      withRemoveButton
      onRemove={onRemove}
      removeButtonProps={{ 'aria-label': `Remove filter ${label}`, 'aria-hidden': false, tabIndex: 0 }}
    >
      {label}
    </Pill>
  );
}

/** A period in words, such as "since 1 Nov, 00:00". */
export function formatTimeRange({ since, until }: TimeRange): string {
  if (since === undefined) return 'at any time';
  return until === undefined
    ? `since ${formatDayAndTime(since)}`
    : `from ${formatDayAndTime(since)} to ${formatDayAndTime(until)}`;
}
