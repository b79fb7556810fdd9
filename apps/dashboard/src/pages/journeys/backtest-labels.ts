import type { Tone } from '../../components/badge.tsx';
import { type PageSearch, pageSearch } from '../../data/paging.ts';
import type { BacktestDifference, BacktestSide, BacktestStatus } from '../../generated/graphql.ts';

export const BACKTEST_STATUS: Record<BacktestStatus, [Tone, string]> = {
  running: ['busy', 'Running'],
  completed: ['good', 'Completed'],
  failed: ['bad', 'Failed'],
  canceled: ['quiet', 'Canceled'],
};

export const DIFFERENCES: Record<BacktestDifference, string> = {
  candidate_only: 'Emails only from the tested version',
  baseline_only: 'Emails only from the other version',
  messages: 'Different emails',
  times: 'Same emails at other times',
  none: 'No difference',
};

export const RESULTS: Record<string, string> = {
  sent: 'Received an email',
  goal: 'Reached the goal',
  completed: 'Reached the end',
  exit: 'Reached an exit',
  in_progress: 'Still in progress',
};

/** Search parameters of a backtest: they filter its contacts. */
export interface BacktestSearch extends PageSearch {
  side?: BacktestSide;
  step?: string;
  outcome?: string;
  day?: string;
  result?: string;
  difference?: BacktestDifference;
  q?: string;
}

export const backtestSearch = (given: Record<string, unknown>): BacktestSearch => {
  const { side, step, outcome, result, difference, q } = given;
  const text = <Key extends string>(key: Key, value: unknown) =>
    typeof value === 'string' && value !== '' ? ({ [key]: value } as Record<Key, string>) : {};
  return {
    ...pageSearch(given),
    ...(side === 'candidate' || side === 'baseline' ? { side } : {}),
    ...text('step', step),
    ...text('outcome', outcome),
    ...text('day', given.day),
    ...(typeof result === 'string' && result in RESULTS ? { result } : {}),
    ...(typeof difference === 'string' && difference in DIFFERENCES
      ? { difference: difference as BacktestDifference }
      : {}),
    ...text('q', q),
  };
};
