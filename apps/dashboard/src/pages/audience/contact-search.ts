import { downloadUrl } from '../../data/download.ts';
import { type PageSearch, pageSearch } from '../../data/paging.ts';
import type { ContactSource } from '../../generated/graphql.ts';

/** The contact list's search parameters. */
export interface ContactSearch extends PageSearch {
  /** Part of an address or name. */
  q?: string;
  mailed?: 'yes' | 'no';
  source?: ContactSource;
  group?: string;
  segment?: string;
}

export const SOURCES: Record<ContactSource, string> = {
  api: 'API',
  import: 'Import',
  dashboard: 'Dashboard',
  form: 'Form',
};

export function contactSearch(search: Record<string, unknown>): ContactSearch {
  const text = (name: string) => (typeof search[name] === 'string' && search[name] !== '' ? search[name] : undefined);
  const [q, group, segment] = [text('q'), text('group'), text('segment')];
  const { mailed, source } = search;
  return {
    ...(q === undefined ? {} : { q }),
    ...(mailed === 'yes' || mailed === 'no' ? { mailed } : {}),
    ...(typeof source === 'string' && source in SOURCES ? { source: source as ContactSource } : {}),
    ...(group === undefined ? {} : { group }),
    ...(segment === undefined ? {} : { segment }),
    ...pageSearch(search),
  };
}

/** Converts search parameters to `contacts` arguments. */
export function filterOf({ q, mailed, source, group, segment }: ContactSearch) {
  return {
    search: q ?? null,
    suppressed: mailed === undefined ? null : mailed === 'no',
    source: source ?? null,
    groupId: group ?? null,
    segmentId: segment ?? null,
  };
}

export const isFiltered = ({ after: _cursor, ...filter }: ContactSearch): boolean => Object.keys(filter).length > 0;

/** The CSV export URL for the current filters. */
export function exportOf(projectId: string, search: ContactSearch): string {
  const { search: text, suppressed, source, groupId, segmentId } = filterOf(search);
  return downloadUrl(projectId, 'contacts/export', {
    search: text,
    suppressed: suppressed === null ? null : String(suppressed),
    source,
    group_id: groupId,
    segment_id: segmentId,
  });
}
