import { downloadUrl } from '../../data/download.ts';
import { type PageSearch, pageSearch } from '../../data/paging.ts';
import { type TimeRange, timeRange } from '../../data/time-range.ts';
import type { ContactSort, ContactSource } from '../../generated/graphql.ts';

/** A condition on a custom field, as segments have it. */
export interface FieldCondition {
  /** `customFields.<key>`. */
  field: string;
  op: string;
  value?: string | number | boolean;
}

/** The contact list's search parameters. */
export interface ContactSearch extends PageSearch, TimeRange {
  /** Part of an address or name. */
  q?: string;
  mailed?: 'yes' | 'no';
  source?: ContactSource;
  group?: string;
  segment?: string;
  where?: FieldCondition;
  sort?: ContactSort;
}

export const SOURCES: Record<ContactSource, string> = {
  api: 'API',
  import: 'Import',
  dashboard: 'Dashboard',
  form: 'Form',
};

export const SORTS: Record<ContactSort, string> = {
  newest: 'Newest first',
  oldest: 'Oldest first',
  name: 'Name, A to Z',
  name_desc: 'Name, Z to A',
  email: 'Email, A to Z',
  email_desc: 'Email, Z to A',
};

export function contactSearch(search: Record<string, unknown>): ContactSearch {
  const text = (name: string) => (typeof search[name] === 'string' && search[name] !== '' ? search[name] : undefined);
  const [q, group, segment] = [text('q'), text('group'), text('segment')];
  const { mailed, source, sort } = search;
  const where = conditionIn(search.where);
  return {
    ...(q === undefined ? {} : { q }),
    ...(mailed === 'yes' || mailed === 'no' ? { mailed } : {}),
    ...(typeof source === 'string' && source in SOURCES ? { source: source as ContactSource } : {}),
    ...(group === undefined ? {} : { group }),
    ...(segment === undefined ? {} : { segment }),
    ...(where === undefined ? {} : { where }),
    ...(typeof sort === 'string' && sort in SORTS ? { sort: sort as ContactSort } : {}),
    ...timeRange(search),
    ...pageSearch(search),
  };
}

function conditionIn(given: unknown): FieldCondition | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  const { field, op, value } = given as Record<string, unknown>;
  if (typeof field !== 'string' || !field.startsWith('customFields.') || typeof op !== 'string') return undefined;
  const isValue = ['string', 'number', 'boolean'].includes(typeof value);
  return { field, op, ...(isValue ? { value: value as string } : {}) };
}

/** Converts search parameters to the filters of `contacts`. */
export function filterOf({ q, mailed, source, group, segment, where, since, until }: ContactSearch) {
  return {
    search: q ?? null,
    suppressed: mailed === undefined ? null : mailed === 'no',
    source: source ?? null,
    groupId: group ?? null,
    segmentId: segment ?? null,
    where: where ?? null,
    createdAfter: since ?? null,
    createdBefore: until ?? null,
  };
}

/** The search parameters that a saved view keeps: all but the page. */
export const viewOf = ({ after: _page, ...view }: ContactSearch): ContactSearch => view;

export const isFiltered = ({ after: _page, sort: _sort, ...filter }: ContactSearch): boolean =>
  Object.keys(filter).length > 0;

/** The CSV export URL for the current filters, or for certain contacts. */
export function exportUrl(projectId: string, search: ContactSearch, ids?: readonly string[]): string {
  const { search: text, suppressed, source, groupId, segmentId, where, createdAfter, createdBefore } = filterOf(search);
  if (ids !== undefined) return downloadUrl(projectId, 'contacts/export', { ids: ids.join(',') });
  return downloadUrl(projectId, 'contacts/export', {
    search: text,
    suppressed: suppressed === null ? null : String(suppressed),
    source,
    group_id: groupId,
    segment_id: segmentId,
    where: where === null ? null : JSON.stringify(where),
    created_after: createdAfter,
    created_before: createdBefore,
  });
}
