import { renewDrainLease } from '../src/queue-drains.ts';

/** Keeps a project's mail queued by taking the lease of its queue drain, in case a worker of another test is running. */
export async function holdMail(projectId: string): Promise<void> {
  await renewDrainLease(projectId, 'burst_of_nobody', 3_600_000);
}
