import { addressPartStatement } from '@postroom/contacts';
import {
  emailKeyParts,
  escapeLike,
  hasCode,
  inTransaction,
  messageKeySql,
  pool,
  QUERY_CANCELED,
} from '@postroom/platform';
import { LRUCache } from 'lru-cache';
import { indexedOf, type RecipientFilter, type Scope } from './filter.ts';

export interface Rows<Row> {
  rows: Row[];
  /** The id at which the search stopped before it read the whole campaign. */
  stoppedAt?: string;
}

/** What bounds a page of a search. */
export interface SearchLimits {
  /** Messages that one statement reads. */
  part: number;
  /** What more recipients than this have is found by reading messages: there are enough of them for a page soon. */
  candidates: number;
  /** The time for the index of contacts, in milliseconds. With 2,000,000 contacts it takes up to 30 for what few of them have. */
  indexMs: number;
  /** No part of the campaign but the first is read later than this after the beginning, in milliseconds. */
  totalMs: number;
}

const SEARCH_LIMITS: SearchLimits = { part: 5_000, candidates: 1_000, indexMs: 80, totalMs: 80 };

/** Searches for which the index took too long or found too much, by project: their next pages don't try it. */
const common = new LRUCache<string, true>({ max: 1_000, ttl: 20_000 });

export interface Search {
  projectId: string;
  campaignId: string;
  filter: RecipientFilter;
  limits?: SearchLimits;
}

/**
 * The first `limit` recipients of a campaign that pass a filter with a search, before an id, newest first. No index covers parts of the
 * addresses of messages, so common texts are found by reading messages, and rare ones by the contacts' index. A search for a text that is
 * neither stops after a time that does not depend on the size of the campaign.
 */
export async function searchRecipients<Row>(
  search: Search,
  { limit, before }: { limit: number; before: string | undefined },
  read: (scope: Scope, limit: number) => Promise<Row[]>,
): Promise<Rows<Row>> {
  const { limits = SEARCH_LIMITS } = search;
  const until = performance.now() + limits.totalMs;
  const rows: Row[] = [];
  const readPart = async (at: string | undefined) => {
    const from = await partFrom(search, at, limits.part);
    rows.push(...(await read({ from, before: at }, limit - rows.length)));
    return rows.length < limit ? from : undefined;
  };
  let at = await readPart(before);
  if (at === undefined) return { rows };
  const ids = await findCandidates(search, limits);
  if (ids !== undefined) return { rows: [...rows, ...(await read({ ids, before: at }, limit - rows.length))] };
  while (at !== undefined && performance.now() < until) at = await readPart(at);
  return at === undefined ? { rows } : { rows, stoppedAt: at };
}

/** The id at which a part of the campaign begins that ends before another id; undefined if it is the last one. */
async function partFrom({ campaignId, filter }: Search, before: string | undefined, size: number) {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT m.id FROM messages m WHERE m.campaign_id = $1 AND ${indexedOf(filter)} AND ($2::text IS NULL OR m.id < $2)
     ORDER BY m.id DESC OFFSET ${size - 1} LIMIT 1`,
    [campaignId, before ?? null],
  );
  return rows[0]?.id;
}

/**
 * The messages of the campaign whose contact's address contains a text now, or whose own address begins with it; undefined if there are
 * too many. Those of deleted contacts are found by the beginning only.
 */
async function findCandidates(
  { projectId, campaignId, filter }: Search,
  { candidates: limit, indexMs: timeoutMs }: SearchLimits,
): Promise<string[] | undefined> {
  const search = filter.search?.trim() ?? '';
  const key = `${projectId} ${search}`;
  if (common.has(key)) return undefined;
  const contactIds = await contactsWithAddressPart(projectId, search, { limit, timeoutMs });
  if (contactIds !== undefined) {
    const { text, values } = candidatesSql(campaignId, { contactIds, search, limit });
    const { rows } = await pool.query<{ id: string }>(text, values);
    if (rows.length <= limit) return rows.map(({ id }) => id);
  }
  common.set(key, true);
  return undefined;
}

/**
 * The contacts whose address contains a text, in no order, if the trigram index finds them within a time and there are at most `limit`.
 * PostgreSQL reads all that the index has for a text before the first contact, so common ones need the time limit.
 */
export async function contactsWithAddressPart(
  projectId: string,
  text: string,
  { limit, timeoutMs }: { limit: number; timeoutMs: number },
): Promise<string[] | undefined> {
  const statement = addressPartStatement(projectId, text, limit + 1);
  if (statement === undefined) return undefined;
  try {
    const { rows } = await inTransaction(async (tx) => {
      await tx.query(`SET LOCAL statement_timeout = ${timeoutMs}`);
      return tx.query<{ id: string }>(statement.text, statement.values);
    });
    return rows.length > limit ? undefined : rows.map(({ id }) => id);
  } catch (error) {
    if (hasCode(error, QUERY_CANCELED)) return undefined;
    throw error;
  }
}

/** The ids of the messages; of those whose address begins with the text, up to one more than the limit. */
export function candidatesSql(
  campaignId: string,
  { contactIds, search, limit }: { contactIds: readonly string[]; search: string; limit: number },
): { text: string; values: unknown[] } {
  const beginnings = emailKeyParts(search).map((part) => `${escapeLike(part)}%`);
  const begins = beginnings.map((_beginning, at) => `${messageKeySql('m')} LIKE $${at + 3}`).join(' OR ');
  return {
    text: `SELECT id FROM messages WHERE campaign_id = $1 AND contact_id = ANY ($2)
      UNION (SELECT m.id FROM messages m WHERE m.campaign_id = $1 AND (${begins}) LIMIT ${limit + 1})`,
    values: [campaignId, contactIds, ...beginnings],
  };
}
