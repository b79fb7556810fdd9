import { number } from '../campaigns/campaign-labels.ts';

/** The selected contacts: some of a page, or all that match the filters. */
export type Selection = readonly string[] | 'all';

/** The largest count; the list has this many or more. */
const MOST = 100_000;

/** A total as text: counts stop at 100,000. */
export const totalText = (total: number): string => (total >= MOST ? `${number(MOST)} or more` : number(total));
