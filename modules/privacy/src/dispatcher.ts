import type { DispatchSource } from '@postroom/platform/dispatcher';
import { searchAll } from './search.ts';

const INTERVAL_MS = 1_000;

/** Searches for mentions of erased people. */
export const source: DispatchSource = {
  name: 'erasures',
  role: 'maintenance',
  tasks: [{ intervalMs: INTERVAL_MS, run: searchAll }],
};
