import type { ScheduledWorkflow } from '@postroom/platform';

/** Hourly, so that a worker that was down at midnight still records the day. A run without a size to record is one query. */
export const schedules: readonly ScheduledWorkflow[] = [
  {
    id: 'segment-sizes',
    workflow: 'recordSegmentSizes',
    every: '1 hour',
    summary: "Record today's size of each segment",
  },
];
