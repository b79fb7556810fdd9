import type * as backtests from '@postroom/backtests/activities';
import {
  CancellationScope,
  continueAsNew,
  isCancellation,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import { activitiesOn } from './activities-on.ts';

const retry = { initialInterval: '1 second', maximumInterval: '30 seconds' } as const;

/** It works for 20 seconds, so that other projects get a turn. After a crash it continues after the last page that was committed. */
const { continueBacktest } = activitiesOn<typeof backtests>('imports', {
  startToCloseTimeout: '20 minutes',
  heartbeatTimeout: '10 seconds',
  retry,
  summary: 'Simulate contacts',
});
const { cancelBacktestRun } = activitiesOn<typeof backtests>('imports', {
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '1 day',
  retry,
  summary: 'Cancel',
});

/** Runs a journey against the past. Definitions and progress are in Postgres; the history holds only counts. */
export async function runBacktest(id: string): Promise<backtests.BacktestProgress['status']> {
  try {
    for (;;) {
      const { status, processed, total } = await continueBacktest(id);
      setCurrentDetails(`**${status}**: ${processed} of ${total} contacts.`);
      if (status !== 'running') return status;
      if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof runBacktest>(id);
    }
  } catch (error) {
    if (isCancellation(error)) await CancellationScope.nonCancellable(() => cancelBacktestRun(id));
    throw error;
  }
}
