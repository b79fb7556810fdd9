import type { Service } from '@postroom/platform';

let worker: Promise<Service> | undefined;

/**
 * Starts the real worker and dispatcher once per process; tests that need workflows await it first. It stops with
 * the process.
 */
export async function startTestWorker(): Promise<void> {
  worker ??= import('@postroom/worker').then(({ startWorker }) => startWorker({ runsSchedules: false }));
  await worker;
}
