import { ALL_IDS, isIdWithin } from '@postroom/partitions/sql';
import { logger } from '@postroom/platform';
import {
  type EndedJournal,
  keepsJournals,
  readEndedJournal,
  readEndedJournals,
  removeJournal,
  removeLeftovers,
} from './in-flight-journal.ts';
import { CONSEQUENCES, settle, settledCount } from './ledger.ts';
import { type Scope, scopeColumn } from './claim.ts';
import type { Settlement } from './settlement.ts';
import { type Installation, readInstallation, heldReasonOf } from './installation.ts';
import { ledgerPool } from './ledger-pool.ts';
import { messageIdsOf } from './message-table.ts';
import { checkNotHeld } from './reservations.ts';
import { REPORTED_AT } from './sql.ts';

/**
 * Claims of a scope, whose ids are from `$3` to `$4`, that are neither `$2` nor those of a shard. A shard's token is committed before its first claim and deleted with the
 * shard: a snapshot that has the claim has the shard too, unless it has ended.
 */
const STALE = (column: 'campaign_id' | 'workflow_id') =>
  `${column} = $1 AND ${isIdWithin('messages.id', '$3', '$4')} AND state = 'claimed' AND claim IS DISTINCT FROM $2
     ${column === 'campaign_id' ? 'AND NOT EXISTS (SELECT FROM campaign_shards s WHERE s.campaign_id = $1 AND s.fencing_token = messages.claim)' : ''}`;

const MARK_STALE = (column: 'campaign_id' | 'workflow_id') => `
  WITH stale AS (
    SELECT id FROM messages WHERE ${STALE(column)} ORDER BY id FOR NO KEY UPDATE
  ), settled AS (
    UPDATE messages m SET state = CASE WHEN ${REPORTED_AT} IS NULL THEN 'unknown' ELSE 'accepted' END::message_state,
      accepted_at = ${REPORTED_AT}, delivered_at = CASE WHEN m.mailbox_id IS NULL THEN m.delivered_at ELSE ${REPORTED_AT} END,
      unsent_at = CASE WHEN ${REPORTED_AT} IS NULL THEN now() END,
      answer = CASE WHEN ${REPORTED_AT} IS NULL THEN 'The sending process stopped before it recorded the answer of the server.' ELSE 'Confirmed by a report from the provider.' END,
      workflow_id = NULL
    WHERE m.id = ANY (ARRAY(SELECT id FROM stale)) AND ${isIdWithin('m.id', '$3', '$4')}
    RETURNING m.*, 'claimed'::message_state AS before, postroom_id('evt') AS event_id
  ), ${CONSEQUENCES}
  SELECT count(*)::int AS settled FROM settled`;

/**
 * Settles rows that an older claim left behind, for example after a crash. Where the journal of that claim is at hand, it tells which
 * messages were not written, which are retried, and which outcomes are missing. All others may have been sent, and become unknown.
 * Rows that a provider has reported on become accepted. Unknown messages are never retried automatically.
 * @returns the number of rows settled.
 */
export async function settleStaleClaims(scope: Scope, claim: string): Promise<number> {
  const [column, value] = scopeColumn(scope);
  const { lowest, highest } = 'campaignId' in scope ? await messageIdsOf(scope.campaignId) : ALL_IDS;
  const values = [value, claim, lowest, highest];
  const { journals, settled } = keepsJournals() ? await settleByJournals(column, values) : { journals: [], settled: 0 };
  const marked = settledCount(
    await ledgerPool.query<{ settled: number }>({
      name: `ledger-mark-stale-${column}`,
      text: MARK_STALE(column),
      values,
    }),
  );
  for (const journal of journals) removeJournal(journal.claim);
  return settled + marked;
}

/** Rows that no provider has reported on. */
const UNREPORTED = (condition: string) =>
  `SELECT id, claim FROM messages WHERE ${condition} AND ${REPORTED_AT} IS NULL`;

async function settleByJournals(column: 'campaign_id' | 'workflow_id', values: string[]) {
  const { rows } = await ledgerPool.query<{ id: string; claim: string }>({
    name: `ledger-stale-${column}`,
    text: UNREPORTED(STALE(column)),
    values,
  });
  const byClaim = Map.groupBy(rows, (row) => row.claim);
  const read = await Promise.all([...byClaim.keys()].map(readEndedJournal));
  const journals = read.filter((journal) => journal !== undefined);
  let settled = 0;
  if (journals.length > 0) {
    const installation = await readInstallation();
    for (const journal of journals)
      settled += await settleByJournal(journal, byClaim.get(journal.claim) ?? [], installation);
  }
  return { journals, settled };
}

/**
 * Settles what the journals of this machine know about processes that were killed; call it when a program starts that sends mail.
 * Messages that may have been sent stay claimed until their campaign or workflow continues. Waits for later if sending is held.
 */
export async function recoverFromJournals(): Promise<void> {
  const journals = await readEndedJournals();
  if (journals.length > 0) {
    const installation = await checkNotHeld();
    let settled = 0;
    for (const journal of journals) {
      const [column, value] = scopeColumn(journal.scope);
      const { rows } = await ledgerPool.query<{ id: string }>(
        UNREPORTED(`${column} = $1 AND state = 'claimed' AND claim = $2`),
        [value, journal.claim],
      );
      settled += await settleByJournal(journal, rows, installation);
      removeJournal(journal.claim);
    }
    logger.info({ journals: journals.length, messages: settled }, 'settled messages of killed processes');
  }
  await removeLeftovers();
}

/**
 * Settles the rows of a claim as far as its journal tells, except those that may have been sent. A row and a claim identify one send,
 * so this can be repeated, and affects no later claim. A restored database is another epoch, whose rows may be older than the journal.
 */
async function settleByJournal(
  { claim, epoch, written, answered }: EndedJournal,
  rows: readonly { id: string }[],
  installation: Installation,
): Promise<number> {
  if (epoch !== installation.epoch || (await heldReasonOf(installation)) !== undefined) return 0;
  const settlements = rows.flatMap(({ id }): Settlement[] => {
    const outcome = answered.get(id);
    if (outcome !== undefined) return [outcome];
    return written.has(id) ? [] : [{ id, state: 'planned', answer: null }];
  });
  // A shard whose process has died counts until it expires.
  return settlements.length === 0 ? 0 : settle(claim, settlements, '', 'shard');
}
