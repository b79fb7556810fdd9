import { createHash } from 'node:crypto';
import { idsFrom, newId } from '@postroom/platform';
import { createDatabase } from '@postroom/testkit/database';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LOAD, RECORD } from '../src/attempts.ts';
import { lowestUnseenId, POLL_FOR_EVENTS, READ_UNSEEN_EVENTS } from '@postroom/events';
import { CLAIM_FIRST_ATTEMPTS, CLAIM_RETRIES, READ_DUE_RETRIES, READ_WAITING, recentDeliveries } from '../src/queue.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Its own database, since the partitions of the others are in use. */
let database: Awaited<ReturnType<typeof createDatabase>>;
let pool: pg.Client;
let projectId: string;
let endpointId: string;
let deliveryIds: string[];

/** Rows of half a year, a week each time, in the partitions of their weeks. */
beforeAll(async () => {
  database = await createDatabase('partitions');
  pool = new pg.Client({ connectionString: database.url });
  await pool.connect();
  [projectId, endpointId] = [newId('prj'), newId('whe')];
  await pool.query(`INSERT INTO projects (id, name) VALUES ($1, 'Test')`, [projectId]);
  await pool.query(
    `INSERT INTO webhook_endpoints (id, project_id, url, events, secret, enabled, updated_at)
     VALUES ($1, $2, 'https://example.com/', '{*}', 'x', false, now())`,
    [endpointId, projectId],
  );
  const monday = new Date(Math.floor((Date.now() / DAY_MS + 3) / 7) * 7 * DAY_MS - 3 * DAY_MS - 182 * DAY_MS);
  for (const [table, prefix] of [
    ['events', 'evt'],
    ['deliveries', 'dlv'],
    ['attempts', 'dlv'],
  ] as const)
    await pool.query(`
      DO $$ DECLARE found record; BEGIN
        FOR found IN SELECT name FROM list_partitions('${table}') WHERE name ~ '\\d{8}$' LOOP EXECUTE format('DROP TABLE %I', found.name); END LOOP;
        ALTER TABLE ${table} DETACH PARTITION ${table}_past;
        ALTER TABLE ${table} DETACH PARTITION ${table}_rest;
        ALTER TABLE ${table} ATTACH PARTITION ${table}_past FOR VALUES FROM (MINVALUE) TO ('${idsFrom(prefix, monday)}');
        ALTER TABLE ${table} ATTACH PARTITION ${table}_rest FOR VALUES FROM ('${idsFrom(prefix, monday)}') TO (MAXVALUE);
        PERFORM extend_partitions('${table}', '${prefix}', '1 week', '3 weeks');
      END $$`);
  for (let days = 180; days >= 0; days -= 7) {
    const created = new Date(Date.now() - days * DAY_MS);
    const id = (prefix: 'evt' | 'dlv') => `left('${idsFrom(prefix, created)}', 20) || lpad(n::text, 10, '0')`;
    await pool.query(
      `INSERT INTO events (id, project_id, type, data) SELECT ${id('evt')}, $1, 'contact.created', '{}' FROM generate_series(1, 200) n`,
      [projectId],
    );
    await pool.query(
      `INSERT INTO deliveries (id, project_id, endpoint_id, event_id, state, attempt_count)
       SELECT ${id('dlv')}, $1, $2, ${id('evt')}, CASE n % 2 WHEN 0 THEN 'queued' ELSE 'retried' END::delivery_state, n % 2 FROM generate_series(1, 200) n`,
      [projectId, endpointId],
    );
  }
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM deliveries WHERE endpoint_id = $1 ORDER BY id DESC LIMIT 100`,
    [endpointId],
  );
  deliveryIds = rows.map(({ id }) => id);
  await pool.query('ANALYZE events, deliveries, attempts');
  // Plans as for partitions of ten million rows.
  await pool.query(
    `UPDATE pg_class SET reltuples = 1e7 WHERE relname ~ '^(events|deliveries|attempts)_(\\d{8}|past)$' AND reltuples > 0`,
  );
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

/**
 * The partitions that a statement reads in its sixth execution. It has a plan for all parameters then, as statements that run often do.
 * Planning it reads the ends of indexes, which is not counted.
 */
async function partitionsRead(text: string, values: unknown[]): Promise<string[]> {
  const name = createHash('sha256').update(text).digest('base64');
  await pool.query('BEGIN');
  try {
    const scans = async () =>
      new Map(
        (
          await pool.query<{ name: string; scans: number }>(
            `SELECT relname AS name, (seq_scan + coalesce(idx_scan, 0))::int AS scans FROM pg_stat_xact_user_tables
             WHERE relname ~ '^(events|deliveries|attempts)_' AND relname <> 'attempts_rest' ORDER BY relname`,
          )
        ).rows.map(({ name, scans }) => [name, scans]),
      );
    await pool.query('SET LOCAL plan_cache_mode = force_generic_plan');
    for (let run = 0; run < 5; run++) {
      await pool.query('SAVEPOINT run');
      await pool.query({ name, text, values });
      await pool.query('ROLLBACK TO run');
    }
    const before = await scans();
    await pool.query({ name, text, values });
    return [...(await scans())]
      .filter(([partition, count]) => count > (before.get(partition) ?? 0))
      .map(([partition]) => partition);
  } finally {
    await pool.query('ROLLBACK');
  }
}

const tables = (partitions: readonly string[], table: string) => partitions.filter((name) => name.startsWith(table));

/** Partitions beyond the first two of a table that were read, apart from those of the future, which are empty. */
function unpruned(partitions: readonly string[]): string[] {
  const today = new Date().toISOString().slice(0, 10).replaceAll('-', '');
  const isAhead = (name: string) => name.endsWith('_rest') || (/\d+$/.exec(name)?.[0] ?? '') > today;
  if (partitions.length === 0) throw new Error('The statement read no partition.');
  return ['events', 'deliveries', 'attempts'].flatMap((table) =>
    tables(partitions, table)
      .filter((name) => !isAhead(name))
      .slice(2),
  );
}

test('the dispatcher reads and claims from the partitions of the last days', async () => {
  const from = recentDeliveries(Date.now());
  const everything = await partitionsRead(READ_WAITING, ['', '']);
  expect(tables(everything, 'deliveries').length, 'there are many').toBeGreaterThanOrEqual(20);
  expect(unpruned(await partitionsRead(READ_WAITING, ['', from]))).toEqual([]);
  expect(unpruned(await partitionsRead(READ_DUE_RETRIES, ['', from]))).toEqual([]);
  const takes = [[endpointId], [50], ['batch_test'], from];
  expect(unpruned(await partitionsRead(CLAIM_FIRST_ATTEMPTS, takes))).toEqual([]);
  expect(unpruned(await partitionsRead(CLAIM_RETRIES, takes))).toEqual([]);
});

test('attempts are loaded and recorded in the partitions of their deliveries', async () => {
  expect(unpruned(await partitionsRead(LOAD, [deliveryIds]))).toEqual([]);
  const ids = deliveryIds.toSorted();
  const each = <Value>(value: Value) => ids.map(() => value);
  const recorded = [
    ids,
    each(1),
    each(new Date()),
    each(5),
    each(200),
    each(null),
    each('ok'),
    each('{}'),
    each('batch_test'),
    each('acknowledged'),
    each(null),
    true,
    ids[0],
    ids.at(-1),
  ];
  expect(unpruned(await partitionsRead(RECORD, recorded))).toEqual([]);
});

test('those who follow the stream of events read the partitions of the last days', async () => {
  const { rows } = await pool.query('SELECT max(xact) AS xact FROM events');
  const from = lowestUnseenId(Date.now());
  expect(unpruned(await partitionsRead(READ_UNSEEN_EVENTS, [projectId, [], rows[0].xact, null, -1, '', from]))).toEqual(
    [],
  );
  expect(unpruned(await partitionsRead(POLL_FOR_EVENTS, [[projectId], rows[0].xact + 1, [], from]))).toEqual([]);
});

test('a page of a list reads as many partitions as it has rows from', async () => {
  const page = (table: string, before: string) =>
    partitionsRead(
      `SELECT * FROM ${table} WHERE project_id = $1 ${before === '' ? '' : 'AND id < $2'} ORDER BY id DESC LIMIT 101`,
      before === '' ? [projectId] : [projectId, before],
    );
  expect(unpruned(await page('events', ''))).toEqual([]);
  expect(unpruned(await page('deliveries', ''))).toEqual([]);
  expect(unpruned(await page('deliveries', idsFrom('dlv', new Date(Date.now() - 60 * DAY_MS))))).toEqual([]);
  expect(unpruned(await partitionsRead('SELECT * FROM attempts WHERE delivery_id = $1', [deliveryIds[0]]))).toEqual([]);
  expect(
    unpruned(
      await partitionsRead('SELECT * FROM deliveries WHERE event_id = $1 AND id = $2', [newId('evt'), deliveryIds[0]]),
    ),
  ).toEqual([]);
});
