import { activityInfo, getClient, heartbeat } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import proto from '@temporalio/proto';

const { TASK_QUEUE_TYPE_ACTIVITY } = proto.temporal.api.enums.v1.TaskQueueType;

/** How often an activity reports that it is alive, in milliseconds. Workflows time out after several missed heartbeats. */
const HEARTBEAT_INTERVAL_MS = 1_000;

/**
 * Sends heartbeats until `work` has settled, with its progress: an object that `work` changes, or what it passes to
 * `beat`, which reports at once.
 */
export async function withHeartbeat<T, Progress extends object = object>(
  work: (beat: (progress?: Progress) => void) => Promise<T>,
  progress?: Progress,
): Promise<T> {
  let last = progress;
  const beat = (next = last) => {
    last = next;
    heartbeat(next);
  };
  const timer = setInterval(beat, HEARTBEAT_INTERVAL_MS);
  try {
    return await work(beat);
  } finally {
    clearInterval(timer);
  }
}

/**
 * Runs `work` in a slot, such as one of a `FairShare`. Without a free slot it throws a retryable failure, so that the
 * worker is free for others until Temporal calls the activity again.
 * @param release the slot's release function; undefined if none is free
 */
export async function withSlot<T>(
  release: (() => void) | undefined,
  busy: { message: string; retryMs: number },
  work: () => Promise<T>,
): Promise<T> {
  if (release === undefined) {
    throw ApplicationFailure.create({
      message: busy.message,
      type: 'Busy',
      category: ApplicationFailureCategory.BENIGN,
      nextRetryDelay: busy.retryMs,
    });
  }
  try {
    return await work();
  } finally {
    release();
  }
}

/** A worker polls for about a minute before it asks again, so one that was last seen earlier is gone. */
const SEEN_MS = 70_000;

/** The number of workers on the task queue of the current activity. One that was killed counts for about a minute. */
export async function countWorkers(): Promise<number> {
  const { taskQueue } = activityInfo();
  const { connection, options } = getClient();
  const { pollers } = await connection.workflowService.describeTaskQueue({
    namespace: options.namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: TASK_QUEUE_TYPE_ACTIVITY,
  });
  const since = Date.now() - SEEN_MS;
  const seen = (pollers ?? []).filter(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000 > since);
  return new Set(seen.map(({ identity }) => identity)).size;
}
