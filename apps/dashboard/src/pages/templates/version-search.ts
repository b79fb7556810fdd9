import { type PageSearch, pageSearch } from '../../data/paging.ts';

/** Search parameters of the version list: the version shown, by default the newest. */
export interface VersionSearch extends PageSearch {
  version?: number;
}

export function versionSearch(search: Record<string, unknown>): VersionSearch {
  const version = Number(search.version);
  return { ...pageSearch(search), ...(Number.isSafeInteger(version) && version > 0 ? { version } : {}) };
}
