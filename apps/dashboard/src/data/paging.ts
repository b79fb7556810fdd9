/** The search parameters of a list that is read page by page: the cursors passed so far, the current one last. */
export interface PageSearch {
  after?: string;
}

/** How many steps back an address remembers; beyond them there is the first page. */
const MAX_TRAIL = 30;

/** Reads the cursors from an address; for `validateSearch` of a list's route. */
export function pageSearch(search: Record<string, unknown>): PageSearch {
  return typeof search.after === 'string' && /^[\w.-]+$/.test(search.after) ? { after: search.after } : {};
}

const trailOf = ({ after }: PageSearch) => (after === undefined ? [] : after.split('.'));

/** The cursor to read a page after; none for the first. */
export const cursorOf = (search: PageSearch): string | undefined => trailOf(search).at(-1);

export const isFirstPage = (search: PageSearch): boolean => search.after === undefined;

/** The search of the page behind the current one. */
export function nextPage(search: PageSearch, endCursor: string): PageSearch {
  return { after: [...trailOf(search), endCursor].slice(-MAX_TRAIL).join('.') };
}

/** The search of the page before the current one. */
export function previousPage(search: PageSearch): PageSearch {
  const trail = trailOf(search).slice(0, -1);
  return trail.length === 0 ? {} : { after: trail.join('.') };
}
