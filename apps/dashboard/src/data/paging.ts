/** Search parameters of a paginated list: the trail of cursors, current one last. */
export interface PageSearch {
  after?: string;
}

/** The number of previous pages kept in the URL; before those, Previous goes to the first page. */
const MAX_TRAIL = 30;

/** Parses cursors for `validateSearch` of a list route. */
export function pageSearch(search: Record<string, unknown>): PageSearch {
  return typeof search.after === 'string' && /^[\w.-]+$/.test(search.after) ? { after: search.after } : {};
}

const trailOf = ({ after }: PageSearch) => (after === undefined ? [] : after.split('.'));

/** The `after` cursor; undefined for the first page. */
export const cursorOf = (search: PageSearch): string | undefined => trailOf(search).at(-1);

export const isFirstPage = (search: PageSearch): boolean => search.after === undefined;

/** Search parameters of the next page. */
export function nextPage(search: PageSearch, endCursor: string): PageSearch {
  return { after: [...trailOf(search), endCursor].slice(-MAX_TRAIL).join('.') };
}

/** Search parameters of the previous page. */
export function previousPage(search: PageSearch): PageSearch {
  const trail = trailOf(search).slice(0, -1);
  return trail.length === 0 ? {} : { after: trail.join('.') };
}
