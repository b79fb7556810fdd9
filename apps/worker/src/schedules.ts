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
