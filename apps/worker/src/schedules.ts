import { config } from '@postroom/platform';
import { type Client, ScheduleAlreadyRunning, type ScheduleOptions, ScheduleOverlapPolicy } from '@temporalio/client';

/** What runs by the clock. Its id is fixed, so several workers make one. */
function retention(): ScheduleOptions {
  const scheduleId = `${config.TEMPORAL_TASK_QUEUE}-delete-old`;
  return {
    scheduleId,
    spec: { intervals: [{ every: '1 hour' }] },
    action: {
      type: 'startWorkflow',
      workflowType: 'deleteOld',
      workflowId: scheduleId,
      taskQueue: config.TEMPORAL_TASK_QUEUE,
      staticSummary: 'Delete what is older than it has to be kept',
    },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
  };
}

/** Makes the schedules, or brings those that are there up to what this version says; one that a person paused stays paused. */
export async function ensureSchedules(client: Client): Promise<void> {
  const { scheduleId, spec, action } = retention();
  try {
    await client.schedule.create(retention());
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const handle = client.schedule.getHandle(scheduleId);
    await handle.update(({ policies, state }) => ({
      spec,
      action: { ...action, workflowId: scheduleId },
      policies,
      state,
    }));
  }
}

/**
 * Runs them now, unless a person paused them: what was left undone while no worker ran is done at once. It is the first thing that a
 * worker does, so that the first mail need not wait for what Temporal and its SDK do once, such as writing the code that reads
 * their messages: most of a second on a busy machine.
 */
export async function runSchedules(client: Client): Promise<void> {
  const handle = client.schedule.getHandle(retention().scheduleId);
  const { state } = await handle.describe();
  if (!state.paused) await handle.trigger(ScheduleOverlapPolicy.SKIP);
}
