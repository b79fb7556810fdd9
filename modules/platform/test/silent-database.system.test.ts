import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startDatabaseProxy } from '@postroom/testkit/database-proxy';
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

test(
  'a statement that PostgreSQL does not answer fails like one whose connection is lost, except those that may take long',
  { timeout: 90_000 },
  async () => {
    const ids = [newId('prj'), newId('prj')];
    const proxy = await startDatabaseProxy(config.DATABASE_URL ?? '');
    let unanswered = 0;
    proxy.watch(({ text }) => (text === 'COMMIT' && unanswered++ < 2 ? 'reply-blocked' : undefined));
    const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, ...ids], {
      env: { ...process.env, DATABASE_URL: proxy.url, LOG_LEVEL: 'silent', STATEMENT_TIMEOUT_SECONDS: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await proxy.close();
      await pool.query('DELETE FROM projects WHERE id = ANY($1)', [ids]);
    });
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    await once(child, 'close');
    const failure = { code: 'timeout', isUnknown: true };
    expect(JSON.parse(printed)).toEqual({ pg: failure, prisma: failure, patient: 'slept', committed: 2 });
  },
);
