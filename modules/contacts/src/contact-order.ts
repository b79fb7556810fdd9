import { invalid, isId } from '@postroom/platform';
import { SHOWN_NAME } from './names.ts';
import type { Parameters } from '@postroom/segment-filters';

/** The orders of the contact list. Each walks an index of the project's contacts. */
export type ContactSort = 'newest' | 'oldest' | 'email' | 'email_desc' | 'name' | 'name_desc';

/** The name by which contacts are sorted; the expression of an index. */
const NAME_KEY = `lower(${SHOWN_NAME})`;

interface Order {
  /** What is sorted by before the id, and is part of cursors; `undefined` sorts by id only, which is by creation. */
  key?: string;
  isDescending: boolean;
}

const ORDERS: Record<ContactSort, Order> = {
  newest: { isDescending: true },
  oldest: { isDescending: false },
  email: { key: 'c.email_key', isDescending: false },
  email_desc: { key: 'c.email_key', isDescending: true },
  name: { key: NAME_KEY, isDescending: false },
  name_desc: { key: NAME_KEY, isDescending: true },
};

/** The place of a row in the list. */
export interface Place {
  id: string;
  key?: string;
}

/**
 * A list in a certain order: its SQL and its cursors, which name the order, because a place in one says nothing in another. `id` is the
 * SQL of the contact's id.
 */
export function inOrder(sort: ContactSort) {
  const { key, isDescending } = ORDERS[sort];
  const [sign, direction] = isDescending ? ['<', 'DESC'] : ['>', 'ASC'];
  return {
    isByKey: key !== undefined,
    /** The columns that cursors need besides the id. */
    columns: key === undefined ? [] : [`${key} AS "sortKey"`],
    orderBy: (id: string) => (key === undefined ? `${id} ${direction}` : `${key} ${direction}, ${id} ${direction}`),
    after: (place: Place, parameters: Parameters, id: string) =>
      key === undefined
        ? `${id} ${sign} ${parameters.add(place.id)}`
        : `(${key}, ${id}) ${sign} (${parameters.add(place.key)}, ${parameters.add(place.id)})`,
    toCursor: ({ id: last, sortKey }: { id: string; sortKey?: string }) =>
      Buffer.from(sort === 'newest' ? last : JSON.stringify([last, sort, sortKey])).toString('base64url'),
    fromCursor: (cursor: string): Place => {
      const text = Buffer.from(cursor, 'base64url').toString();
      const place = sort === 'newest' ? placeOf(text) : placeIn(text, sort);
      if (place === undefined) throw invalid({ field: 'after', message: 'is not a cursor of this list' });
      return place;
    },
  };
}

const placeOf = (id: unknown): Place | undefined => (typeof id === 'string' && isId('ctc', id) ? { id } : undefined);

function placeIn(text: string, sort: ContactSort): Place | undefined {
  if (text.includes('\0')) return undefined;
  try {
    const [id, order, key] = JSON.parse(text) as unknown[];
    const place = order === sort ? placeOf(id) : undefined;
    if (ORDERS[sort].key === undefined) return place;
    return place && typeof key === 'string' ? { ...place, key } : undefined;
  } catch {
    return undefined;
  }
}
