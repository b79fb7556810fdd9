import type { Service } from '@postroom/platform';

/** How to start the programs that tests talk to. Testkit imports no app; the setup file of vitest provides these. */
export interface Programs {
  startGateway: (options: { host: string; port: number }) => Promise<Service & { url: string }>;
  startWorker: (options: { runsSchedules: boolean }) => Promise<Service>;
  /** The bundle of all workflows. webpack builds it once, for all test runs with the same sources. */
  workflowBundle: () => Promise<{ codePath: string }>;
}

let provided: Programs | undefined;

export function providePrograms(programs: Programs): void {
  provided = programs;
}

/** @throws Error outside of vitest. */
export function programs(): Programs {
  if (provided === undefined) throw new Error('No programs: run this under vitest, whose setup file provides them.');
  return provided;
}
