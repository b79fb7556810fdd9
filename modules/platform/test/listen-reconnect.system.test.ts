import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { config } from '../src/config.ts';
import { CHANNEL } from '../src/listen.ts';
import { pool } from '../src/db.ts';

/** Listens by itself and prints what it hears: other files of this process listen as well. */
const PROGRAM = `
  const { listen } = await import(${JSON.stringify(new URL('../src/listen.ts', import.meta.url).href)});
  await listen('outbox', (payload) => console.log('received ' + payload));
  console.log('ready');`;

test(
  'a database that is away for seconds is listened to by one connection afterwards',
  { timeout: 90_000 },
  async () => {
    const database = new URL(config.DATABASE_URL ?? '');
    const open = new Set<Socket>();
    let isAway = false;
    const proxy = createServer((socket) => {
      socket.on('error', () => {});
      if (isAway) return void socket.destroy();
      const upstream = connect(Number(database.port), database.hostname);
      upstream.on('error', () => socket.destroy());
      open.add(socket);
      socket.on('close', () => {
        open.delete(socket);
        upstream.destroy();
      });
      upstream.on('close', () => socket.destroy());
      socket.pipe(upstream).pipe(socket);
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const through = new URL(database);
    through.hostname = '127.0.0.1';
    through.port = String((proxy.address() as AddressInfo).port);
    const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], {
      env: { ...process.env, DATABASE_URL: through.href, LOG_LEVEL: 'silent' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => {
      child.kill('SIGKILL');
      proxy.close();
    });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await vi.waitFor(() => expect(said).toContain('ready'), 20_000);
    expect(open.size).toBe(1);

    isAway = true;
    for (const socket of open) socket.destroy();
    await sleep(3_500); // five attempts, each of which made two of itself once
    isAway = false;
    await vi.waitFor(() => expect(open.size).toBeGreaterThan(0), 20_000);
    await sleep(4_000); // any other attempt has come through by now
    expect(open.size).toBe(1);
    await pool.query(`SELECT pg_notify($1, 'outbox again')`, [CHANNEL]);
    await vi.waitFor(() => expect(said.match(/received outbox again/g)).toHaveLength(1), 20_000);
  },
);
