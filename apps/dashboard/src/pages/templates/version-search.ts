import { type PageSearch, pageSearch } from '../../data/paging.ts';

/** The list of a template's versions, and the number of the one that is shown; the newest without one. */
export interface VersionSearch extends PageSearch {
  version?: number;
}

export function versionSearch(search: Record<string, unknown>): VersionSearch {
  const version = Number(search.version);
  return { ...pageSearch(search), ...(Number.isSafeInteger(version) && version > 0 ? { version } : {}) };
}
