import type { Service } from '@postroom/platform';

let worker: Promise<Service> | undefined;

/** Starts the real worker and relay, once a process; tests that need workflows await it first. It ends with the process. */
export async function startTestWorker(): Promise<void> {
  worker ??= import('@postroom/worker').then(({ startWorker }) => startWorker({ runsSchedules: false }));
  await worker;
}
