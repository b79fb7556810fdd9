import { config } from '@postroom/platform';
import { type Client, ScheduleAlreadyRunning, type ScheduleOptions, ScheduleOverlapPolicy } from '@temporalio/client';

/** Scheduled workflows. Fixed ids ensure that several workers create each only once. */
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

/** Creates the schedules or updates them to this version; a paused schedule stays paused. */
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
 * Triggers every schedule that is not paused, so that work missed while no worker ran is done at once. It runs
 * first, which also warms up Temporal and its SDK (generating message decoders takes most of a second on a busy
 * machine) before the first mail.
 */
export async function runSchedules(client: Client): Promise<void> {
  const handle = client.schedule.getHandle(retention().scheduleId);
  const { state } = await handle.describe();
  if (!state.paused) await handle.trigger(ScheduleOverlapPolicy.SKIP);
}
