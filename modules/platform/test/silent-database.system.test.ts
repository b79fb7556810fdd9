import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type DatabaseProxy, startDatabaseProxy } from '@postroom/testkit/database-proxy';
import { expect, onTestFinished, test } from 'vitest';
import { config } from '@postroom/settings/config';
import { pool } from '../src/db.ts';
import { newId } from '../src/ids.ts';

const source = (name: string) => JSON.stringify(new URL(`../src/${name}`, import.meta.url).href);

/**
 * Inserts a project by pg and one by Prisma, which the test lets COMMIT without a reply, while another statement takes longer than others
 * may. Prints how they ended.
 */
const PROGRAM = `
  const { closeDatabase, db, inTransaction, pool, queryPatiently, sql } = await import(${source('db.ts')});
  const { databaseAnswerOf, mayHaveCommitted } = await import('@postroom/errors');
  const [byPg, byPrisma] = process.argv.slice(1);
  const insert = (id) => (tx) => sql(tx, 'INSERT INTO projects (id, name) VALUES ($1, $1) RETURNING id', [id]);
  const failure = (work) =>
    work.then(
      () => undefined,
      (error) => ({ code: databaseAnswerOf(error)?.code, isUnknown: mayHaveCommitted(error) }),
    );
  const [pg, prisma, [patient]] = await Promise.all([
    failure(inTransaction(insert(byPg))),
    failure(db.$transaction(insert(byPrisma))),
    queryPatiently("SELECT 'slept' AS state, pg_sleep(8)::text", []),
  ]);
  const { rows } = await pool.query('SELECT id FROM projects WHERE id = ANY($1)', [[byPg, byPrisma]]);
  console.log(JSON.stringify({ pg, prisma, patient: patient.state, committed: rows.length }));
  await closeDatabase();`;

/** Runs a program whose statements a proxy gets. @returns what it printed. */
async function printedBy(
  program: string,
  args: string[],
  rule: Parameters<DatabaseProxy['watch']>[0],
): Promise<unknown> {
  const proxy = await startDatabaseProxy(config.DATABASE_URL ?? '');
  proxy.watch(rule);
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, ...args], {
    env: { ...process.env, DATABASE_URL: proxy.url, LOG_LEVEL: 'silent', STATEMENT_TIMEOUT_SECONDS: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await proxy.close();
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  await once(child, 'close');
  return JSON.parse(printed);
}

test(
  'a statement that PostgreSQL does not answer fails like one whose connection is lost, except those that may take long',
  { timeout: 90_000 },
  async () => {
    const ids = [newId('prj'), newId('prj')];
    onTestFinished(() => void pool.query('DELETE FROM projects WHERE id = ANY($1)', [ids]));
    let unanswered = 0;
    const printed = await printedBy(PROGRAM, ids, ({ text }) =>
      text === 'COMMIT' && unanswered++ < 2 ? 'reply-blocked' : undefined,
    );
    const failure = { code: 'timeout', isUnknown: true };
    expect(printed).toEqual({ pg: failure, prisma: failure, patient: 'slept', committed: 2 });
  },
);

/** Runs a statement that the test leaves without an answer, and another one, in a program whose statements may take 15 minutes. */
const WORKER = `
  const { useBackgroundTimeouts } = await import(${source('connection-pool.ts')});
  useBackgroundTimeouts();
  const { closeDatabase, pool } = await import(${source('db.ts')});
  const { databaseAnswerOf } = await import('@postroom/errors');
  const outcomes = ['lost', 'long'].map((name) =>
    pool.query("SELECT '" + name + "' AS name, pg_sleep($1)::text", [name === 'long' ? 35 : 0]).then(
      ({ rows }) => rows[0].name,
      (error) => databaseAnswerOf(error)?.code,
    ),
  );
  console.log(JSON.stringify(await Promise.all(outcomes)));
  await closeDatabase();`;

test(
  'a worker closes the connection of a statement that PostgreSQL no longer runs, and lets a long one go on',
  { timeout: 90_000 },
  async () => {
    const printed = await printedBy(WORKER, [], ({ text }) => (text.includes("'lost'") ? 'reply-blocked' : undefined));
    expect(printed).toEqual(['timeout', 'long']);
  },
);

test('a worker closes its connections to a PostgreSQL that answers nobody', { timeout: 90_000 }, async () => {
  let isFrozen = false;
  const printed = await printedBy(WORKER, [], ({ text }) => {
    isFrozen ||= text.includes('pg_sleep');
    return isFrozen ? 'blocked' : undefined;
  });
  expect(printed).toEqual(['timeout', 'timeout']);
});
