import { type PageSearch, pageSearch } from '../../data/paging.ts';
import { type TimeRange, timeRange } from '../../data/time-range.ts';
import { type Reason, ENTERED } from './subscription.tsx';

/** The suppression list's search parameters. */
export interface SuppressionSearch extends PageSearch, TimeRange {
  email?: string;
  reason?: Reason;
}

export function suppressionSearch({ email, reason, ...search }: Record<string, unknown>): SuppressionSearch {
  return {
    ...(typeof email === 'string' && email !== '' ? { email } : {}),
    ...(typeof reason === 'string' && reason in ENTERED ? { reason: reason as Reason } : {}),
    ...timeRange(search),
    ...pageSearch(search),
  };
}
