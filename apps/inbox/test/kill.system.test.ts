import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pool } from '@postroom/platform';
import { createTransport } from 'nodemailer';
import { expect, test } from 'vitest';

const CONNECTIONS = 20;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

async function startProgram(): Promise<{ program: ChildProcess; port: number }> {
  const port = await freePort();
  const env = { ...process.env, INBOX_SMTP_PORT: String(port), INBOX_WEB_PORT: '0', LOG_LEVEL: 'silent' };
  const program = fork(join(import.meta.dirname, '../src/main.ts'), { env, execArgv: [] });
  const [first] = await Promise.race([once(program, 'message'), once(program, 'exit')]);
  expect(first).toEqual({ ready: true });
  return { program, port };
}

/** Sends mails over many connections until the inbox exits; returns the recipients whose mail was accepted with 250. */
async function sendUntilItEnds(port: number, word: string, onAccepted: (count: number) => void): Promise<string[]> {
  const accepted: string[] = [];
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    pool: true,
    maxConnections: CONNECTIONS,
    maxMessages: 100_000,
    maxRequeues: 0,
  });
  const sender = async (connection: number) => {
    for (let number = 0; ; number++) {
      const to = `${connection}.${number}@example.com`;
      try {
        await transport.sendMail({ from: 'a@example.com', to, subject: word, text: 'x'.repeat(2000) });
      } catch {
        return;
      }
      onAccepted(accepted.push(to));
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, connection) => sender(connection)));
  transport.close();
  return accepted;
}

async function kept(word: string): Promise<string[]> {
  const { rows } = await pool.query<{ recipient: string }>('SELECT recipient FROM inbox_mails WHERE subject = $1', [
    word,
  ]);
  return rows.map((row) => row.recipient);
}

test.each([
  ['SIGKILL', CONNECTIONS],
  ['SIGTERM', 0],
] as const)(
  'a %s under load loses nothing accepted with 250, and stores at most %i other mails',
  async (signal, unanswered) => {
    const word = randomBytes(6).toString('hex');
    const { program, port } = await startProgram();
    const exited = once(program, 'exit');
    const accepted = await sendUntilItEnds(port, word, (count) => count === 300 && program.kill(signal));
    await exited;
    const there = await kept(word);
    expect(accepted.length).toBeGreaterThanOrEqual(300);
    expect(accepted.filter((to) => !there.includes(to))).toEqual([]);
    expect(there.length - accepted.length).toBeLessThanOrEqual(unanswered);
    expect(there.length).toBe(new Set(there).size);
  },
);

test('the inbox exits when its parent process does', async () => {
  const { program } = await startProgram();
  program.disconnect();
  const [code] = await once(program, 'exit');
  expect(code).toBe(0);
});
