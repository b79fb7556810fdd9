import { type PageSearch, pageSearch } from '../../data/paging.ts';
import { dayAt, isDay } from '../home/period.ts';

/** The audit log's search parameters. */
export interface AuditSearch extends PageSearch {
  /** A user or an API key. */
  actor?: string;
  action?: string;
  /** A kind of object, such as "campaign". */
  kind?: string;
  /** The first and the last day, as YYYY-MM-DD. */
  from?: string;
  to?: string;
}

export function auditSearch({ actor, action, kind, from, to, ...search }: Record<string, unknown>): AuditSearch {
  const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
  return {
    ...(isText(actor) ? { actor } : {}),
    ...(isText(action) ? { action } : {}),
    ...(isText(kind) ? { kind } : {}),
    ...(isDay(from) ? { from } : {}),
    ...(isDay(to) ? { to } : {}),
    ...pageSearch(search),
  };
}

/** Which entries the API returns. */
interface Filter {
  actorId?: string;
  action?: string;
  targetKind?: string;
  since?: string;
  until?: string;
}

/** The filter of the API. Days are those of the browser's time zone. */
export function filterOf({ actor, action, kind, from, to }: AuditSearch): Filter {
  return {
    ...(actor === undefined ? {} : { actorId: actor }),
    ...(action === undefined ? {} : { action }),
    ...(kind === undefined ? {} : { targetKind: kind }),
    ...(from === undefined ? {} : { since: dayAt(from, 0).toISOString() }),
    ...(to === undefined ? {} : { until: dayAt(to, 1).toISOString() }),
  };
}
