import { ALL_IDS, type IdRange } from '@postroom/partitions/sql';
import { hasCode, UNDEFINED_TABLE } from '@postroom/platform';
import { LRUCache } from 'lru-cache';
import { ledgerPool } from './ledger-pool.ts';

/** Of campaigns that have messages. They never change: a trigger keeps the prefix. */
const ranges = new LRUCache<string, IdRange>({ max: 10_000 });
/** The table that was last known to have a campaign's messages. */
const tables = new LRUCache<string, string>({ max: 10_000 });

/** The limits of a campaign's message ids. Those of a campaign from before ids had its prefix may be in any partition. */
export async function messageIdsOf(campaignId: string): Promise<IdRange> {
  const found = ranges.get(campaignId);
  if (found !== undefined) return found;
  const { rows } = await ledgerPool.query<{ prefix: string | null }>(
    'SELECT snapshot_prefix AS prefix FROM campaigns WHERE id = $1',
    [campaignId],
  );
  const prefix = rows[0]?.prefix ?? null;
  if (prefix === null) return ALL_IDS;
  const range = { lowest: prefix, highest: `${prefix}z` };
  ranges.set(campaignId, range);
  return range;
}

/** The partition of the campaign's first possible id. Campaigns from before ids had a prefix are in the first partition. */
const TABLE_OF = `
  SELECT p.name FROM campaigns c CROSS JOIN list_partitions('messages') p
  WHERE c.id = $1 AND (p.lower_bound IS NULL OR p.lower_bound <= rpad(coalesce(c.snapshot_prefix, ''), 30, '0'))
    AND (p.upper_bound IS NULL OR p.upper_bound > rpad(coalesce(c.snapshot_prefix, ''), 30, '0'))`;

async function readTableOf(campaignId: string): Promise<string> {
  const { rows } = await ledgerPool.query<{ name: string }>({
    name: 'ledger-message-table',
    text: TABLE_OF,
    values: [campaignId],
  });
  const table = rows[0]?.name ?? 'messages';
  tables.set(campaignId, table);
  return table;
}

/**
 * Runs a statement on the table that has all messages of a campaign: `messages`, or one of its partitions. Again if they were moved to
 * another one meanwhile.
 * @param isFound whether the result shows that the statement found messages there.
 */
export async function inMessageTable<Result>(
  campaignId: string,
  run: (table: string) => Promise<Result>,
  isFound: (result: Result) => boolean,
): Promise<Result> {
  for (let table = tables.get(campaignId) ?? (await readTableOf(campaignId)); ;) {
    let failure: unknown;
    const result = await run(table).catch((error: unknown) => {
      if (!hasCode(error, UNDEFINED_TABLE)) throw error;
      failure = error;
    });
    if (result !== undefined && isFound(result)) return result;
    const current = await readTableOf(campaignId);
    if (current === table) {
      if (result === undefined) throw failure;
      return result;
    }
    table = current;
  }
}

/** SQL of whether the statement's table is not partitioned. It is false in a statement that was written before `messages` was. */
export const IS_PLAIN_TABLE = `EXISTS (SELECT FROM pg_class k WHERE k.oid = 'messages'::regclass AND k.relkind = 'r')`;

/** A prepared statement on `messages m`, on one of its partitions. */
export const onTable = ({ name, text }: { name: string; text: string }, table: string) =>
  table === 'messages'
    ? { name, text }
    : {
        name: `${name}-${table}`,
        text: text
          .replaceAll(/\bmessages m\b/g, `${table} m`)
          .replaceAll("'messages'::regclass", `'${table}'::regclass`),
      };
