import { type PageSearch, pageSearch } from '../../data/paging.ts';
import { type TimeRange, timeRange } from '../../data/time-range.ts';

/** Search parameters of the latest events of a name. */
export interface EventSearch extends PageSearch, TimeRange {
  /** Only those of the contact with this address. */
  email?: string;
}

export function eventSearch({ email, ...search }: Record<string, unknown>): EventSearch {
  return {
    ...(typeof email === 'string' && email !== '' ? { email } : {}),
    ...timeRange(search),
    ...pageSearch(search),
  };
}
