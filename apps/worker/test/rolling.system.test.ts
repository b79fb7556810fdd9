import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  addCampaign,
  createDatabase,
  endProgram,
  eventually,
  freePorts,
  fromSources,
  newProject,
  ready,
  startSmtpSink,
} from '@postroom/testkit';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { startBalancer } from './balancer.ts';

const PROMOTE = join(import.meta.dirname, '../src/promote.ts');
const RECIPIENTS = 1_500;
const MAILS_PER_SECOND = 40;
/** Less than five if nothing else runs on the machine, but other tests do. */
const MAX_WAIT_SECONDS = 10;

test('old → new → old under load: no request fails, no mail waits long, and each goes out once', async () => {
  const database = await createDatabase('rolling');
  const pool = new pg.Pool({ connectionString: database.url, max: 4 });
  pool.on('error', () => {});
  const sink = await startSmtpSink();
  const balancer = await startBalancer();
  const programs: ChildProcess[] = [];
  onTestFinished(async () => {
    await Promise.all(programs.map((program) => endProgram(program, 'SIGKILL')));
    await Promise.all([balancer.close(), sink.close(), pool.end()]);
    await database.drop();
  });
  const environment = {
    ...process.env,
    NODE_ENV: 'test',
    DATABASE_URL: database.url,
    TEMPORAL_TASK_QUEUE: database.name,
    WORKER_DEPLOYMENT: database.name,
    SMTP_URL: sink.url,
    RATE_LIMIT_PER_SECOND: '100000',
    DRAIN_SECONDS: '1',
  };

  /** Starts a gateway and a worker of a build, and gives the build the work. */
  const startRelease = async (build: string) => {
    const [port = 0, adminPort = 0, workerAdminPort = 0] = await freePorts(3);
    const env = { ...environment, BUILD_ID: build };
    const [gateway, worker] = await Promise.all([
      ready('gateway', fromSources('gateway', { ...env, GATEWAY_PORT: String(port), ADMIN_PORT: String(adminPort) })),
      ready('worker', fromSources('worker', { ...env, ADMIN_PORT: String(workerAdminPort) })),
    ]);
    programs.push(gateway, worker);
    await balancer.add({ port, readyUrl: `http://127.0.0.1:${adminPort}/readyz` });
    await eventually(async () => {
      expect((await fetch(`http://127.0.0.1:${workerAdminPort}/readyz`)).status).toBe(200);
    }, 60_000);
    const promotion = spawn(process.execPath, [PROMOTE], { env, stdio: 'inherit' });
    expect(await once(promotion, 'exit')).toEqual([0, null]);
    return { gateway, worker };
  };
  /** As an orchestrator does: all at once, by SIGTERM. */
  const stopRelease = ({ gateway, worker }: Awaited<ReturnType<typeof startRelease>>) =>
    Promise.all([endProgram(gateway, 'SIGTERM'), endProgram(worker, 'SIGTERM')]);

  const first = await startRelease('old');
  const api = await newProject(pool, balancer.url);
  const rolling = { name: 'roll', recipients: RECIPIENTS, rate_per_second: MAILS_PER_SECOND };
  const path = `/v1/campaigns/${await addCampaign(pool, api, rolling)}`;
  expect((await api.post(`${path}/send`)).status).toBe(202);
  await eventually(() => expect(sink.mails.length).toBeGreaterThan(MAILS_PER_SECOND), 60_000);

  const load = startLoad(api);
  const second = await startRelease('new');
  await stopRelease(first);
  const third = await startRelease('old');
  await stopRelease(second);
  const statuses = await load.stop();

  const campaign = await eventually(async () => {
    const now = (await api.get(path)).body.data;
    expect(now.status).toBe('completed');
    return now;
  }, 120_000);
  await stopRelease(third);
  expect(balancer.failures).toEqual([]);
  expect(statuses.filter((status) => status !== 200 && status !== 202)).toEqual([]);
  expect(statuses.length).toBeGreaterThan(100);
  expect(campaign.progress).toMatchObject({ accepted: RECIPIENTS, unknown: 0, failed: 0 });
  const toCampaign = sink.mails.filter(({ to }) => to.startsWith('roll'));
  expect([...sink.counts().values()].filter((count) => count > 1)).toEqual([]);
  expect(longestGapMs(toCampaign.map(({ at }) => at))).toBeLessThan(MAX_WAIT_SECONDS * 1_000);
  const { rows } = await pool.query(
    `SELECT max(extract(epoch FROM accepted_at - created_at))::float AS seconds, count(*) FILTER (WHERE state <> 'accepted')::int AS open
     FROM messages WHERE campaign_id IS NULL`,
  );
  expect(rows[0].open).toBe(0);
  expect(rows[0].seconds).toBeLessThan(MAX_WAIT_SECONDS);
}, 300_000);

/** Reads and sends without a pause, by a few clients at a time. */
function startLoad(api: Awaited<ReturnType<typeof newProject>>) {
  const statuses: number[] = [];
  let isStopped = false;
  const from = 'Ada <ada@example.com>';
  const client = async (name: number) => {
    for (let count = 0; !isStopped; count++) {
      statuses.push((await api.get('/v1/contacts?limit=1')).status);
      const to = `mail-${name}-${count}@example.net`;
      statuses.push((await api.post('/v1/emails', { from, to, subject: 'Hello', text: 'Hello' })).status);
      await sleep(100);
    }
  };
  const clients = [1, 2, 3].map(client);
  return {
    stop: async () => {
      isStopped = true;
      await Promise.all(clients);
      return statuses;
    },
  };
}

const longestGapMs = (times: readonly number[]) =>
  Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)));
