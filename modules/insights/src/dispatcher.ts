import type { DispatchSource } from '@postroom/platform/dispatcher';
import { countCampaigns } from './campaign-counts.ts';
import { exportEvents } from './event-export.ts';
import { countEvents } from './statistics-counts.ts';

/** How often events are counted, in milliseconds. Statistics read what has happened since. */
const COUNT_INTERVAL_MS = 30_000;
/** How often events are exported, in milliseconds: each time makes a file of every project with new events. */
const EXPORT_INTERVAL_MS = 300_000;

/** Counts events for statistics, and campaigns that the previous version started; exports events. */
export const source: DispatchSource = {
  name: 'statistics',
  role: 'maintenance',
  tasks: [
    { intervalMs: COUNT_INTERVAL_MS, run: countEvents },
    { intervalMs: COUNT_INTERVAL_MS, run: countCampaigns },
    { intervalMs: EXPORT_INTERVAL_MS, run: () => exportEvents() },
  ],
};
