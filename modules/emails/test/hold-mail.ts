import { renewDrainLease } from '../src/queue-drains.ts';

/** Keeps a project's mail where it is, for tests that look at it: a worker of other tests may be at work. */
export async function holdMail(projectId: string): Promise<void> {
  await renewDrainLease(projectId, 'burst_of_nobody', 3_600_000);
}
