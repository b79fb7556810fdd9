import type { Service } from '@postroom/platform';
import { programs } from './programs.ts';

let worker: Promise<Service> | undefined;

/**
 * Starts the real worker and dispatcher once per process; tests that need workflows await it first. It stops with
 * the process.
 */
export async function startTestWorker(): Promise<void> {
  worker ??= programs().startWorker({ runsSchedules: false });
  await worker;
}
