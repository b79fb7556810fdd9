import { downloadUrl } from '../../data/download.ts';
import { type PageSearch, pageSearch } from '../../data/paging.ts';
import type { BounceClass, RecipientOutcome, RecipientState } from '../../generated/graphql.ts';
import { RECIPIENT_LABELS } from './campaign-labels.ts';
import { BOUNCE_LABELS, OUTCOME_LABELS } from './recipient-labels.ts';

/** The recipient list's search parameters. */
export interface RecipientSearch extends PageSearch {
  state?: RecipientState;
  outcome?: RecipientOutcome;
  bounce?: BounceClass;
  /** The position of a link. */
  link?: number;
  /** Part of an address. */
  q?: string;
}

const oneOf = <Name extends string>(value: unknown, names: Record<Name, unknown>): value is Name =>
  typeof value === 'string' && Object.hasOwn(names, value);

export function recipientSearch({
  state,
  outcome,
  bounce,
  link,
  q,
  ...search
}: Record<string, unknown>): RecipientSearch {
  return {
    ...(oneOf(state, RECIPIENT_LABELS) ? { state } : {}),
    ...(oneOf(outcome, OUTCOME_LABELS) ? { outcome } : {}),
    ...(oneOf(bounce, BOUNCE_LABELS) ? { bounce } : {}),
    ...(typeof link === 'number' && Number.isInteger(link) && link >= 0 ? { link } : {}),
    ...(typeof q === 'string' && q !== '' ? { q } : {}),
    ...pageSearch(search),
  };
}

/** Converts search parameters to a `CampaignRecipientFilter`. */
export const recipientFilterOf = ({ state, outcome, bounce, link, q }: RecipientSearch) => ({
  state: state ?? null,
  outcome: outcome ?? null,
  bounceClass: bounce ?? null,
  link: link ?? null,
  search: q ?? null,
});

/** The CSV export URL for the current filters. */
export function recipientsFileOf(projectId: string, campaignId: string, search: RecipientSearch): string {
  const { bounceClass, link, ...filter } = recipientFilterOf(search);
  return downloadUrl(projectId, `campaigns/${campaignId}/recipients/export`, {
    ...filter,
    bounce_class: bounceClass,
    link: link === null ? null : String(link),
  });
}

/** States that segments know as email of the campaign, by the field of a condition. */
const STATE_FIELDS: Partial<Record<RecipientState, string>> = { accepted: 'sent', failed: 'failed' };
const OUTCOME_FIELDS = new Set<RecipientOutcome>([
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
  'unsubscribed',
]);

/** The longest that conditions of segments take. */
const MAX_URL_LENGTH = 2048;

/**
 * The segment of the contacts that the search lists (docs/reference/segments.md). Undefined for what segments do not know: bots,
 * bounce classes and what is still being sent.
 * @param url the target of the link in the search; the segment has those who clicked any link of the campaign to it.
 */
export function segmentOf(
  campaignId: string,
  { state, outcome, bounce, link, q }: RecipientSearch,
  url: string | undefined,
): Record<string, unknown> | undefined {
  const isByLink = link !== undefined;
  if (bounce !== undefined || (isByLink && (url === undefined || url.length > MAX_URL_LENGTH))) return undefined;
  const isKnown = outcome === undefined || OUTCOME_FIELDS.has(outcome);
  const fields = [state === undefined ? undefined : STATE_FIELDS[state], outcome].filter(
    (field) => field !== undefined,
  );
  if (!isKnown || fields.length === 0 || (state !== undefined && STATE_FIELDS[state] === undefined)) return undefined;
  const conditions = fields.map((field): Record<string, unknown> => ({
    field,
    op: 'ever',
    campaignId,
    ...(isByLink && field === 'clicked' && { url }),
  }));
  if (q !== undefined) conditions.push({ field: 'email', op: 'contains', value: q });
  return { and: conditions };
}
