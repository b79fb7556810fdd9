import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, run, startPostgres } from '@postroom/embedded';
import { migrate } from '@postroom/migrations';
import { eventually, startSmtpSink, startSystem } from '@postroom/testkit';
import { expect, onTestFinished, test } from 'vitest';

const REQUESTS = 12;
/** One second for the statement, five for its answer, ten for a connection, and what a busy machine needs. */
const ANSWER_TIMEOUT_MS = 35_000;

test(
  'requests get a 503 while PostgreSQL is frozen, and email is accepted and sent once when it goes on',
  { timeout: 240_000 },
  async () => {
    const postgres = await startOwnPostgres();
    const sink = await startSmtpSink();
    const system = await startSystem({
      databaseUrl: postgres.url,
      smtpUrl: sink.url,
      env: { STATEMENT_TIMEOUT_SECONDS: '1', LOG_LEVEL: 'silent' },
    });
    onTestFinished(async () => {
      postgres.resume();
      await system.stop();
      await sink.close();
      await postgres.stop();
    });
    await system.startWorker();
    const { key } = await system.api();
    const send = async (number: number) => {
      const response = await fetch(`${system.url}/v1/emails`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${key}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': `email-${number}`,
        },
        body: JSON.stringify({
          from: 'post@example.com',
          to: `reader${number}@example.net`,
          subject: 'Hi',
          text: 'Hi',
        }),
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      });
      await response.body?.cancel();
      return response.status;
    };
    const sendEach = () => Promise.all(Array.from({ length: REQUESTS }, (_, number) => send(number)));

    expect(await send(REQUESTS)).toBe(202);
    postgres.freeze();
    expect(await sendEach()).toEqual(Array.from({ length: REQUESTS }, () => 503));
    // By now the pools have no connection from before, and those that they open are not answered either.
    expect(await sendEach()).toEqual(Array.from({ length: REQUESTS }, () => 503));
    postgres.resume();

    await eventually(async () => expect(await send(REQUESTS + 1)).toBe(202));
    // A key stays claimed if it is not known whether its email was stored.
    for (const status of await sendEach()) expect([202, 409]).toContain(status);
    await eventually(async () => {
      const { rows } = await system.pool.query<{ email: string }>('SELECT email FROM messages ORDER BY email');
      expect(rows.length).toBeGreaterThan(1);
      expect(sink.mails.map(({ to }) => to).sort()).toEqual(rows.map(({ email }) => email));
    }, 60_000);
    expect([...sink.counts().values()].every((count) => count === 1)).toBe(true);
  },
);

/** A migrated server of this test alone, whose processes can be frozen. */
async function startOwnPostgres() {
  const root = mkdtempSync(join(tmpdir(), 'postroom-frozen-'));
  chmodSync(root, 0o711); // for PostgreSQL's own user, when root runs the tests
  const folder = join(root, 'data');
  const [port = 0] = await freePorts(1);
  const logFile = join(root, 'postgres.log');
  const { url, stop } = await startPostgres(run, { folder, port, logFile, durable: false, removeAfter: root });
  await migrate(url);
  const [line = ''] = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n');
  const postmaster = Number(line);
  const children = () => execFileSync('pgrep', ['-P', line], { encoding: 'utf8' }).trim().split('\n').map(Number);
  const freeze = () => {
    process.kill(postmaster, 'SIGSTOP');
    for (const child of children()) process.kill(child, 'SIGSTOP');
  };
  const resume = () => {
    // In this order, none of them is gone when it is its turn.
    for (const child of children()) process.kill(child, 'SIGCONT');
    process.kill(postmaster, 'SIGCONT');
  };
  return { url, stop, freeze, resume };
}
