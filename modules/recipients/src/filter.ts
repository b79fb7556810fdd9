import { Parameters } from '@postroom/contacts';
import type { BounceClass } from '@postroom/ledger';
import { clickedLink, FIND_LINK } from '@postroom/tracking/sql';
import {
  emailKey,
  emailKeyParts,
  invalid,
  MAX_EMAIL_LENGTH,
  messageKeySql,
  pool,
  type Prisma,
} from '@postroom/platform';

type RecipientState = Prisma.MessageModel['state'];

/** Outcomes of a message; several may apply to one. The descriptions are shown in the API reference. */
export const RECIPIENT_OUTCOMES = {
  deferred: 'Deferred by the server and due for a retry.',
  delivered: "Accepted by the recipient's server.",
  opened: 'Opened by a human.',
  opened_by_machines: 'Opened by a bot, such as a privacy proxy. A human may have opened it too.',
  clicked: 'A human clicked a link.',
  clicked_by_machines: 'A bot followed a link, such as a link scanner. A human may have clicked too.',
  bounced: 'Bounced.',
  rejected: 'Rejected by the provider after it was accepted.',
  complained: 'Marked as spam.',
  unsubscribed: 'The recipient unsubscribed through it.',
} as const;

type RecipientOutcome = keyof typeof RECIPIENT_OUTCOMES;

/**
 * Outcomes as SQL on the message `m` and its campaign `c`. Partial indexes find the rare ones (see the ledger's migrations), and a counter
 * tells that there is none, for which the whole campaign would have to be read.
 */
const OUTCOME_CONDITIONS: Record<RecipientOutcome, string> = {
  deferred: "m.state = 'planned' AND m.not_before IS NOT NULL AND m.deferrals > 0",
  delivered: 'm.delivered_at IS NOT NULL AND c.delivered_count > 0',
  opened: 'm.opened_at IS NOT NULL AND c.opened_count > 0',
  opened_by_machines: 'm.machine_opened_at IS NOT NULL AND c.machine_opened_count > 0',
  clicked: 'm.clicked_at IS NOT NULL AND c.clicked_count > 0',
  clicked_by_machines: 'm.machine_clicked_at IS NOT NULL AND c.machine_clicked_count > 0',
  bounced: 'm.bounced_at IS NOT NULL',
  rejected: 'm.rejected_at IS NOT NULL AND c.rejected_count > 0',
  complained: 'm.complained_at IS NOT NULL',
  unsubscribed: 'm.unsubscribed_at IS NOT NULL',
};

const UNSENT = 'm.unsent_at IS NOT NULL';

/** How far in the order of ids a campaign's messages may have been claimed: as far as its cursor, or anywhere if they go at local times. */
const CLAIMED_UP_TO = `CASE WHEN c.time_zone_field IS NULL THEN c.cursor ELSE 'eml_z' END`;

/** Conditions that let a search by state use an index, since the state column has none (see the ledger's migration). */
const INDEXABLE: Partial<Record<RecipientState, string>> = {
  // The ranges of shards are before the campaign's cursor, and among the last.
  planned: `(m.id > least(c.cursor, (SELECT min(s.cursor) FROM campaign_shards s WHERE s.campaign_id = c.id AND s.cursor < s.until))
      OR m.not_before IS NOT NULL)`,
  claimed: `m.id <= ${CLAIMED_UP_TO}
      AND (c.claimed_count > 0 OR EXISTS (SELECT FROM campaign_shards s WHERE s.campaign_id = c.id AND s.claimed_count > 0))`,
  accepted: `m.id <= ${CLAIMED_UP_TO}`,
  failed: UNSENT,
  suppressed: UNSENT,
  unknown: UNSENT,
  canceled: UNSENT,
};

/** Outcomes that the index of rare ones has. */
const RARE: ReadonlySet<string> = new Set<RecipientOutcome>(['bounced', 'complained', 'unsubscribed']);

/** The part of a filter for which the messages `m` have an index, as a condition: a search reads no others. */
export function indexedOf({ state, outcome, bounceClass }: RecipientFilter): string {
  if (bounceClass != null) return OUTCOME_CONDITIONS.bounced;
  if (outcome != null && RARE.has(outcome)) return OUTCOME_CONDITIONS[outcome];
  return state != null && INDEXABLE[state] === UNSENT ? UNSENT : 'true';
}

/** Filters of a recipient list; a recipient must pass all that are given. */
export interface RecipientFilter {
  state?: RecipientState | null | undefined;
  outcome?: RecipientOutcome | null | undefined;
  bounceClass?: BounceClass | null | undefined;
  /** Number of a tracked link: recipients who clicked it, or bots if `outcome` is `clicked_by_machines`. */
  link?: number | null | undefined;
  /** The full address. */
  email?: string | null | undefined;
  /** Part of the address. */
  search?: string | null | undefined;
}

/** Links are numbered with 32-bit integers, but no body has this many. */
export const MAX_LINK = 100_000;

/** Which messages of a campaign a statement reads: those with these ids, or those from one id until before another. */
export interface Scope {
  ids?: readonly string[];
  from?: string | undefined;
  before?: string | undefined;
}

/** @throws DomainError `validation_error` for a link that the campaign does not have. */
export async function checkLink(campaignId: string, { link, outcome }: RecipientFilter): Promise<void> {
  if (link == null) return;
  clicksOf(link, outcome);
  const { rowCount } = await pool.query(FIND_LINK, [campaignId, link]);
  if (rowCount === 0) throw invalid({ field: 'link', message: 'is not a tracked link of this campaign' });
}

/**
 * The recipients of the campaign `campaignId` that pass a filter, as `FROM … WHERE …` over the messages `m` and the campaign `c`.
 * @throws DomainError `validation_error` for a text longer than an address, or a link combined with an outcome other than clicks.
 */
export function recipientsSql(
  campaignId: string,
  { state, outcome, bounceClass, link, email, search }: RecipientFilter,
  { ids, from, before }: Scope = {},
): { from: string; parameters: Parameters } {
  checkLengths({ email, search });
  const parameters = new Parameters();
  const campaign = parameters.add(campaignId);
  const where = [`c.id = ${campaign}`, `m.campaign_id = ${campaign}`];
  if (ids !== undefined) where.push(`m.id = ANY (${parameters.add(ids)}::text[])`);
  if (from !== undefined) where.push(`m.id >= ${parameters.add(from)}`);
  if (before !== undefined) where.push(`m.id < ${parameters.add(before)}`);
  if (state != null) where.push(`m.state = ${parameters.add(state)}`, INDEXABLE[state] ?? 'true');
  if (outcome != null) where.push(OUTCOME_CONDITIONS[outcome]);
  if (bounceClass != null) where.push(OUTCOME_CONDITIONS.bounced, `m.bounce_class = ${parameters.add(bounceClass)}`);
  if (link != null) {
    const clicks = clicksOf(link, outcome);
    where.push(OUTCOME_CONDITIONS[clicks], clickedLink('m.id', parameters.add(link), clicks === 'clicked'));
  }
  if (email != null) where.push(isTo(email, { campaign, parameters }));
  if (search != null && search.trim() !== '') where.push(contains(search.trim(), parameters));
  return {
    from: `FROM campaigns c JOIN messages m ON m.campaign_id = c.id WHERE ${where.join(' AND ')}`,
    parameters,
  };
}

function clicksOf(link: number, outcome: RecipientOutcome | null | undefined): 'clicked' | 'clicked_by_machines' {
  if (link < 0 || link > MAX_LINK) throw invalid({ field: 'link', message: `must be between 0 and ${MAX_LINK}` });
  if (outcome == null || outcome === 'clicked') return 'clicked';
  if (outcome === 'clicked_by_machines') return outcome;
  throw invalid({ field: 'link', message: 'requires the outcome clicked or clicked_by_machines' });
}

function checkLengths(texts: Record<string, string | null | undefined>): void {
  const field = Object.keys(texts).find((name) => (texts[name]?.length ?? 0) > MAX_EMAIL_LENGTH);
  if (field !== undefined) throw invalid({ field, message: `must be at most ${MAX_EMAIL_LENGTH} characters` });
}

/** By itself, because the planner overestimates how many have an address, and would read the campaign in its order. */
function isTo(email: string, { campaign, parameters }: { campaign: string; parameters: Parameters }): string {
  const key = parameters.add(emailKey(email));
  return `m.id = ANY (ARRAY(SELECT r.id FROM messages r WHERE r.campaign_id = ${campaign} AND ${messageKeySql('r')} = ${key}))`;
}

/** No index covers parts of addresses: see search.ts. An export reads all messages of the campaign that pass the other filters. */
function contains(search: string, parameters: Parameters): string {
  const parts = emailKeyParts(search).map(
    (part) => `position(${parameters.add(part)}::text IN ${messageKeySql('m')}) > 0`,
  );
  return `(${parts.join(' OR ')})`;
}
