import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { startBreakableProxy } from '@postroom/testkit/breakable-proxy';
import { expect, onTestFinished, test, vi } from 'vitest';
import { config } from '@postroom/settings/config';
import { CHANNEL } from '../src/listen.ts';
import { pool } from '../src/db.ts';

/** Listens in its own process and prints notifications, because other test files in this process listen too. */
const PROGRAM = `
  const { listen } = await import(${JSON.stringify(new URL('../src/listen.ts', import.meta.url).href)});
  await listen('outbox', (payload) => console.log('received ' + payload));
  console.log('ready');`;

test(
  'a database that is away for seconds is listened to by one connection afterwards',
  { timeout: 90_000 },
  async () => {
    const proxy = await startBreakableProxy(config.DATABASE_URL ?? '');
    const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], {
      env: { ...process.env, DATABASE_URL: proxy.url, LOG_LEVEL: 'silent' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => {
      child.kill('SIGKILL');
      proxy.close();
    });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await vi.waitFor(() => expect(said).toContain('ready'), 20_000);
    expect(proxy.connections()).toBe(1);

    proxy.break();
    await sleep(3_500); // five attempts, each of which made two of itself once
    proxy.restore();
    await vi.waitFor(() => expect(proxy.connections()).toBeGreaterThan(0), 20_000);
    await sleep(4_000); // any other attempt has come through by now
    expect(proxy.connections()).toBe(1);
    await pool.query(`SELECT pg_notify($1, 'outbox again')`, [CHANNEL]);
    await vi.waitFor(() => expect(said.match(/received outbox again/g)).toHaveLength(1), 20_000);
  },
);
