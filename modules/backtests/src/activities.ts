import { cancellationSignal } from '@temporalio/activity';
import { stopAfterRepeatedErrors } from '@postroom/platform';
import { withHeartbeat } from '@postroom/temporal/activity';
import { endBacktest } from './backtests.ts';
import { continueBacktest as continueIt, type Progress } from './run.ts';

export type { Progress as BacktestProgress } from './run.ts';

/** Processes contacts of a backtest for a while. It has ended unless its status is `running`. */
export async function continueBacktest(id: string): Promise<Progress> {
  return withHeartbeat((beat: (progress?: Progress) => void) =>
    stopAfterRepeatedErrors(
      `backtest ${id}`,
      () => continueIt(id, cancellationSignal(), beat),
      async (reason) => {
        await endBacktest(id, 'failed', `The backtest could not continue: ${reason}`);
        return { status: 'failed', processed: 0, total: 0 };
      },
    ),
  );
}

/** Cancels a backtest at an operator's request. */
export async function cancelBacktestRun(id: string): Promise<void> {
  await endBacktest(id, 'canceled');
}
