import { addToCampaignCounts, isSendingNow } from '@postroom/campaigns/sql';
import { inTransaction, lockUntilCommit, messageKeySql, NOW } from '@postroom/platform';
import { isHere } from '@postroom/projects/sql';
import type pg from 'pg';
import type { CountedBy } from './ledger.ts';
import { ledgerPool } from './ledger-pool.ts';
import { IS_PLAIN_TABLE, inMessageTable, onTable } from './message-table.ts';
import { type Reserved, whileReserved } from './reservations.ts';
import {
  advanceShard,
  claimOrSuppress,
  claimUntried,
  frequencyCapLock,
  isAtFrequencyCap,
  IS_UNLIMITED,
  mayClaim,
} from './sql.ts';

/** A claimed message with the contact data its content is rendered from. */
export interface ClaimedRecipient {
  id: string;
  email: string;
  name: string | null;
  customFields: Record<string, unknown> | null;
  deferrals: number;
  deferredAt: Date | null;
}

export interface ClaimedPage {
  rows: ClaimedRecipient[];
  /** Maximum messages per second: the lower of the campaign's limit and its share of the project's; null for no limit. */
  ratePerSecond: number | null;
  /** Whether nothing can be claimed under this fencing token, or sending is held. */
  isFencedOff: boolean;
}

export const NO_PAGE: ClaimedPage = { rows: [], ratePerSecond: null, isFencedOff: false };

/** Messages without a `not_before`, past the cursor and as far as reserved. The others are claimed by their time instead. */
const UNTRIED =
  "m.campaign_id = (SELECT id FROM fenced) AND m.id > (SELECT cursor FROM fenced) AND m.id <= $5 AND m.state = 'planned' AND m.not_before IS NULL";

const AT_CAP = `'Not sent: the contact has had as many messages as the project''s frequency cap allows.'`;

const MAY_CLAIM = mayClaim({ epoch: '$6', number: '$7', until: '$8' });

/** The lower of a campaign's rate and its part of the project's, which campaigns that wait leave to the others. */
const RATE = `least(c.rate_per_second, (SELECT p.rate_per_second::float / greatest(1, (SELECT count(*) FROM campaigns s
        WHERE s.project_id = p.project_id AND ${isSendingNow('s')}))
      FROM sending_policies p WHERE p.project_id = c.project_id)) AS rate_per_second`;

/** Messages that are due: deferred, requeued, or for the local time of their recipient. These may be past the cursor. */
const DUE = `
    SELECT m.* FROM fenced CROSS JOIN LATERAL (
      SELECT m.id, m.project_id, m.contact_id, m.email, m.email_key FROM messages m
      WHERE m.campaign_id = fenced.id AND m.not_before <= ${NOW} AND m.state = 'planned' AND m.claim IS DISTINCT FROM $2
      ORDER BY m.not_before LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED
    ) AS m`;

/** What claims: the run of the campaign `$1`, or one of its shards. Its row has a cursor and the fencing token `$2`. */
interface Claimer {
  /** SQL of the CTE that locks the row. */
  fenced: string;
  /** SQL of messages with a `not_before` to claim. */
  due: string;
  /** SQL that counts and moves the cursor. */
  counters: (changes: Record<'claimed' | 'suppressed', string>, cursor: string) => string;
}

const RUN: Claimer = {
  fenced: `SELECT id, cursor, ${RATE} FROM campaigns c
    WHERE id = $1 AND fencing_token = $2 AND status = 'sending' AND ${MAY_CLAIM} AND ${isHere('c.project_id')} AND ${IS_PLAIN_TABLE}
    FOR NO KEY UPDATE OF c`,
  due: DUE,
  counters: (changes, cursor) => addToCampaignCounts(changes, 'WHERE id = $1 AND fencing_token = $2', { cursor }),
};

/**
 * It doesn't lock the campaign: a pause, or a rate limit, that commits meanwhile takes effect with the next page. A campaign with a rate
 * limit is sent by its run alone.
 */
const SHARD: Claimer = {
  fenced: `SELECT c.id, s.cursor, NULL::float AS rate_per_second FROM campaign_shards s JOIN campaigns c ON c.id = s.campaign_id
    WHERE s.fencing_token = $2 AND c.id = $1 AND c.run = s.run AND c.status = 'sending' AND ${MAY_CLAIM} AND ${isHere('c.project_id')}
      AND ${IS_UNLIMITED} AND ${IS_PLAIN_TABLE} FOR NO KEY UPDATE OF s`,
  due: 'SELECT m.id, m.project_id, m.contact_id, m.email, m.email_key FROM messages m WHERE false',
  counters: (changes, cursor) => advanceShard('$2', changes, cursor),
};

/**
 * Claims the next page: messages with a `not_before` that are due, then the others in id order from the campaign's cursor. Once no other is
 * left, the cursor passes those that wait, so that the next claim does not read them.
 *
 * The row with the fencing token is locked, so only the token's holder claims, and only while the campaign is sending. A
 * project's rate is split evenly among its sending campaigns. An attempt claims a row at most once, so row and claim together
 * identify one send, and a delayed or repeated settlement cannot be applied to another send.
 *
 * Untried rows need no lock before the update, because only the fencing token's holder claims them. Nearly all belong to
 * contacts who can still be mailed at the same address; `taken` claims these in one pass. The rest, and due rows, are
 * `classified`: contacts suppressed or deleted since the snapshot are marked suppressed instead. The `coalesce` stops
 * PostgreSQL from driving the join from contacts to messages. Untried rows are a range of the index `(campaign_id, id)` from the
 * cursor, due ones a range of the partial index `(campaign_id, not_before)`. If messages are partitioned, the statement names the
 * partition (`onTable`): on the whole table, its conditions on ids would be unsafe, as docs/decisions/partitions.md explains. So would they be in
 * `others` if it were not materialized.
 *
 * @param atCap SQL of whether a contact is at the frequency cap, given its id and that of the message. Contacts at the cap are marked
 * suppressed as well.
 */
const claimSql = ({ fenced, due, counters }: Claimer, atCap?: (contact: string, message: string) => string) => `
  WITH fenced AS (
    ${fenced}
  ), due AS (${due}
  ), page AS (
    SELECT count(*) AS size, max(id) AS last FROM (
      SELECT m.id FROM messages m WHERE ${UNTRIED} ORDER BY m.id LIMIT greatest(0, $3 - (SELECT count(*) FROM due))
    ) AS m
  ), taken AS (
    ${claimUntried('$2')} FROM contacts c
    WHERE ${UNTRIED} AND m.id <= (SELECT last FROM page)
      AND c.id = coalesce(m.contact_id, '') AND c.email = m.email AND NOT c.suppressed
      ${atCap === undefined ? '' : `AND NOT ${atCap('c.id', 'm.id')}`}
    RETURNING m.id, m.email, c.name, CASE WHEN $4 THEN c.custom_fields END AS custom_fields, m.deferrals, m.deferred_at
  ), others AS MATERIALIZED (
    SELECT * FROM due
    UNION ALL
    SELECT m.id, m.project_id, m.contact_id, m.email, m.email_key FROM messages m
    WHERE (SELECT count(*) FROM taken) < (SELECT size FROM page) AND ${UNTRIED} AND m.id <= (SELECT last FROM page)
      AND m.id NOT IN (SELECT id FROM taken)
  ), classified AS (
    SELECT o.id, o.email, c.name, CASE WHEN $4 THEN c.custom_fields END AS custom_fields,
      coalesce(CASE WHEN c.id IS NULL THEN 'Not sent: the contact has been deleted.'
        WHEN c.email = o.email AND NOT c.suppressed THEN NULL
        ELSE (SELECT 'Not sent: the address is suppressed (' || min(s.reason)::text || ').' FROM suppressions s
          WHERE s.project_id = o.project_id AND s.email_key IN (a.key, erased_key(o.project_id, a.key)))
      END ${atCap === undefined ? '' : `, CASE WHEN ${atCap('c.id', 'o.id')} THEN ${AT_CAP} END`}) AS problem
    FROM others o LEFT JOIN contacts c ON c.id = o.contact_id
    CROSS JOIN LATERAL (SELECT CASE c.email WHEN o.email THEN c.email_key ELSE ${messageKeySql('o')} END AS key) AS a
  ), decided AS (
    ${claimOrSuppress('$2', 'j.problem')}
    FROM classified j WHERE m.id = j.id AND m.state = 'planned'
    RETURNING m.id, j.email, j.name, j.custom_fields, m.deferrals, m.deferred_at, j.problem
  ), claimed AS (
    SELECT * FROM taken
    UNION ALL
    SELECT id, email, name, custom_fields, deferrals, deferred_at FROM decided WHERE problem IS NULL
  ), counters AS (
    ${counters(
      {
        claimed: '(SELECT count(*) FROM taken) + (SELECT count(*) FROM decided WHERE problem IS NULL)',
        suppressed: '(SELECT count(*) FROM decided WHERE problem IS NOT NULL)',
      },
      `greatest(cursor, (SELECT last FROM page), CASE WHEN (SELECT size FROM page) + (SELECT count(*) FROM due) < $3 THEN (
        SELECT m.id FROM messages m WHERE m.campaign_id = (SELECT id FROM fenced) AND m.id <= $5 ORDER BY m.id DESC LIMIT 1) END)`,
    )}
  )
  SELECT (SELECT size::int FROM page) + (SELECT count(*)::int FROM due) AS considered, fenced.rate_per_second AS "ratePerSecond",
    t.id, t.email, t.name, t.custom_fields AS "customFields", t.deferrals, t.deferred_at AS "deferredAt"
  FROM fenced LEFT JOIN claimed t ON true`;

/** A shard of a campaign whose messages wait for local times: of these, a page is what no other claimer has locked. */
const SHARD_WITH_DUE: Claimer = { ...SHARD, due: DUE };

const belowCap = (claimer: Claimer) =>
  claimSql(claimer, (contact, message) =>
    isAtFrequencyCap(contact, { messages: '$9::int', days: '$10::int', except: message }),
  );

const CLAIM = {
  campaign: { name: 'campaign-claim', text: claimSql(RUN) },
  shard: { name: 'campaign-claim-shard', text: claimSql(SHARD) },
  shardWithDue: { name: 'campaign-claim-shard-due', text: claimSql(SHARD_WITH_DUE) },
};
const CLAIM_BELOW_CAP = {
  campaign: { name: 'campaign-claim-capped', text: belowCap(RUN) },
  shard: { name: 'campaign-claim-shard-capped', text: belowCap(SHARD) },
  shardWithDue: { name: 'campaign-claim-shard-due-capped', text: belowCap(SHARD_WITH_DUE) },
};

type ClaimedRow = ClaimedRecipient & { considered: number; ratePerSecond: number | null };

/** A campaign whose project has a frequency cap: at most this many messages in this many days. */
export interface Capped {
  projectId: string;
  messages: number;
  days: number;
}

/** How far messages may be claimed. */
export type Claimable = Omit<Reserved, 'isAll'> & {
  /** Whether a shard claims messages that are due as well. A run always does. */
  withDue?: boolean;
};

/**
 * Claims up to `limit` recipients; none if the campaign was paused or fenced off, or nothing is due up to `reserved`.
 * @throws an outage if the reservation ended meanwhile.
 * @param by what the claim is the fencing token of.
 */
export async function claimPage(
  campaignId: string,
  claim: string,
  limit: number,
  needsCustomFields: boolean,
  reserved: Claimable,
  cap?: Capped,
  by: CountedBy = 'campaign',
): Promise<ClaimedPage> {
  const claimer = by === 'shard' && reserved.withDue === true ? 'shardWithDue' : by;
  const { position, epoch, number, until } = reserved;
  const values = [campaignId, claim, limit, needsCustomFields, position, epoch, number, until];
  const claimRows = () =>
    inMessageTable(
      campaignId,
      async (table) => {
        if (cap !== undefined)
          return inTransaction((tx) => claimBelowCap(tx, { claimer, table, cap }, values), ledgerPool);
        return (await ledgerPool.query<ClaimedRow>({ ...onTable(CLAIM[claimer], table), values })).rows;
      },
      ([found]) => found !== undefined && found.considered > 0,
    );
  for (;;) {
    const rows = await whileReserved(reserved, claimRows);
    const [first] = rows;
    if (first === undefined) return { rows: [], ratePerSecond: null, isFencedOff: true };
    const { considered, ratePerSecond } = first;
    if (first.id !== null) return { rows, ratePerSecond, isFencedOff: false };
    if (considered === 0) return { rows: [], ratePerSecond, isFencedOff: false };
    // Every recipient on this page was suppressed; try the next page.
  }
}

/** Waits for other claims of the project: of two messages to a contact that may get one more, only the first is claimed. */
async function claimBelowCap(
  tx: pg.ClientBase,
  { claimer, table, cap: { projectId, messages, days } }: { claimer: keyof typeof CLAIM; table: string; cap: Capped },
  values: unknown[],
): Promise<ClaimedRow[]> {
  await lockUntilCommit(tx, frequencyCapLock(projectId));
  const statement = onTable(CLAIM_BELOW_CAP[claimer], table);
  return (await tx.query<ClaimedRow>({ ...statement, values: [...values, messages, days] })).rows;
}
