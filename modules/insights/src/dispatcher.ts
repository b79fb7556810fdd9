import type { DispatchSource } from '@postroom/platform/dispatcher';
import { countCampaigns } from './campaign-counts.ts';
import { countEvents } from './statistics-counts.ts';

/** How often events are counted, in milliseconds. Statistics read what has happened since. */
const INTERVAL_MS = 30_000;

/** Counts events for statistics, and campaigns that the previous version started. */
export const source: DispatchSource = {
  name: 'statistics',
  role: 'maintenance',
  tasks: [
    { intervalMs: INTERVAL_MS, run: countEvents },
    { intervalMs: INTERVAL_MS, run: countCampaigns },
  ],
};
