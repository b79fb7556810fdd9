import { config, databaseNow, logger, type ScheduledWorkflow } from '@postroom/platform';
import { loadParts } from '@postroom/registry';
import {
  type Client,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
} from '@temporalio/client';

const RETENTION: ScheduledWorkflow = {
  id: 'delete-old',
  workflow: 'deleteOld',
  every: '1 hour',
  summary: 'Delete data past its retention period',
};

/** The scheduled workflows of the worker and of the modules. */
async function schedules(): Promise<ScheduleOptions[]> {
  const parts = await loadParts('schedules');
  return [RETENTION, ...parts.flatMap((part) => part.schedules)].map(optionsOf);
}

/** Fixed ids ensure that several workers create each schedule only once. */
function optionsOf({ id, workflow, every, summary }: ScheduledWorkflow): ScheduleOptions {
  const scheduleId = `${config.TEMPORAL_TASK_QUEUE}-${id}`;
  return {
    scheduleId,
    spec: { intervals: [{ every }] },
    action: {
      type: 'startWorkflow',
      workflowType: workflow,
      workflowId: scheduleId,
      taskQueue: config.TEMPORAL_TASK_QUEUE,
      staticSummary: summary,
    },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
  };
}

/** Creates the schedules or updates them to this version; a paused schedule stays paused. */
export async function ensureSchedules(client: Client): Promise<void> {
  await Promise.all((await schedules()).map((schedule) => ensureSchedule(client, schedule)));
}

/**
 * Creates schedules that are missing, because an operator deleted them or the server lost its data, and runs those at once. Existing
 * ones are left alone.
 */
export async function restoreSchedules(client: Client): Promise<void> {
  for (const schedule of await schedules()) {
    try {
      await client.schedule.getHandle(schedule.scheduleId).describe();
    } catch (error) {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
      await ensureSchedule(client, { ...schedule, state: { triggerImmediately: true } });
      logger.warn({ schedule: schedule.scheduleId }, 'created a schedule that was missing');
    }
  }
}

async function ensureSchedule(client: Client, schedule: ScheduleOptions): Promise<void> {
  const { scheduleId, spec, action } = schedule;
  try {
    await client.schedule.create(schedule);
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
  await Promise.all(
    (await schedules()).map(async ({ scheduleId }) => {
      const handle = client.schedule.getHandle(scheduleId);
      const { state } = await handle.describe();
      if (!state.paused) await handle.trigger(ScheduleOverlapPolicy.SKIP);
    }),
  );
}

/** The number of schedules that Temporal lacks, or that should have run more than a minute ago; paused ones don't count. */
export async function countOverdueSchedules(client: Client): Promise<number> {
  const overdue = await Promise.all(
    (await schedules()).map(async ({ scheduleId }) => {
      try {
        const { state, info } = await client.schedule.getHandle(scheduleId).describe();
        const [next] = info.nextActionTimes;
        return !state.paused && (next === undefined || next.getTime() < databaseNow() - 60_000);
      } catch (error) {
        if (error instanceof ScheduleNotFoundError) return true;
        throw error;
      }
    }),
  );
  return overdue.filter(Boolean).length;
}
