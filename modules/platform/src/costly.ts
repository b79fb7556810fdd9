import { config } from './config.ts';
import { FairSemaphore } from './fair-semaphore.ts';

/** Expensive queries of a project that may wait for those before them; more are refused. */
const WAITING_PER_PROJECT = 200;

let semaphore: FairSemaphore | undefined;

/**
 * Runs a query whose cost grows with a project's data, such as a count over all contacts. A few of a project run at once, and
 * those of all projects together take half of the connections at most. `work` must not call this again.
 * @throws RateLimited when too many of the project wait.
 */
export function runCostly<T>(projectId: string, work: () => Promise<T>): Promise<T> {
  semaphore ??= new FairSemaphore({
    total: Math.max(1, Math.floor(config.DATABASE_POOL / 2)),
    perKey: config.COSTLY_QUERIES_PER_PROJECT,
    waitingPerKey: WAITING_PER_PROJECT,
  });
  return semaphore.run(projectId, work);
}
