import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  addCampaign,
  eventually,
  type SmtpSink,
  startBreakableProxy,
  startSmtpSink,
  startSystem,
  type System,
  type SystemApi,
  temporalClient,
} from '@postroom/testkit';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { runKillable } from './run-killable.ts';
import { databaseOf } from './two-cells.ts';

const RECIPIENTS = 1_500;
let sink: SmtpSink;
let system: System;
const temporal = await temporalClient();

beforeAll(async () => {
  sink = await startSmtpSink(() => sleep(20));
  system = await startSystem({ smtpUrl: sink.url });
  await system.startWorker();
}, 120_000);

afterAll(async () => {
  await system.stop();
  await sink.close();
});

/** Runs `postroom delete-project`, and kills it when it prints `killAt`. */
function remove(args: readonly string[], killAt?: string): ReturnType<typeof runKillable> {
  const url = databaseOf(system);
  const env = { ...process.env, DATABASE_URL: url, TEMPORAL_TASK_QUEUE: new URL(url).pathname.slice(1) };
  return runKillable(join(import.meta.dirname, '../src/delete-project.ts'), args, env, killAt);
}

/** Starts a campaign. @returns its id. */
async function startCampaign(api: SystemApi, campaign: { name: string; rate_per_second?: number }): Promise<string> {
  const id = await addCampaign(system.pool, api, { recipients: RECIPIENTS, ...campaign });
  expect((await api.post(`/v1/campaigns/${id}/send`)).status).toBe(202);
  return id;
}

const sentOf = ({ projectId }: SystemApi) =>
  system.pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM messages WHERE project_id = $1 AND state = 'accepted'`,
    [projectId],
  );

test(
  'a project is deleted while it sends a campaign, though the command is killed; its key stops working, and other projects go on',
  { timeout: 180_000 },
  async () => {
    const [api, other] = [await system.api(), await system.api()];
    // So slowly that it is far from its end when the project is deleted.
    const campaign = await startCampaign(api, { name: 'deleted', rate_per_second: 10 });
    const kept = await startCampaign(other, { name: 'kept' });
    await eventually(async () => expect((await sentOf(api)).rows[0]?.count).toBeGreaterThan(20), 60_000);
    const named = await remove([api.projectId]);
    expect([named.status, named.printed]).toEqual([1, expect.stringContaining('1,500 contacts and 1 campaign.')]);
    const name = /--name "(.*)"/.exec(named.printed)?.[1] ?? '';
    const misnamed = await remove([api.projectId, '--name', `${name}!`]);
    expect([misnamed.status, misnamed.printed]).toEqual([1, expect.stringContaining('name')]);
    await remove([api.projectId, '--name', name], 'nothing new is sent');
    // The workers go on by themselves, and may be done.
    expect([401, 503]).toContain((await api.get(`/v1/campaigns/${campaign}`)).status);
    const { status, printed } = await remove([api.projectId]);
    expect([status, printed]).toEqual([0, expect.stringContaining(`${api.projectId} is deleted.`)]);
    expect((await api.get(`/v1/campaigns/${campaign}`)).status).toBe(401);
    const { rowCount } = await system.pool.query('SELECT FROM messages WHERE project_id = $1', [api.projectId]);
    expect(rowCount).toBe(0);
    const mails = () => sink.mails.filter(({ to }) => to.startsWith('deleted')).length;
    const sent = mails();
    await eventually(async () => {
      expect((await other.get(`/v1/campaigns/${kept}`)).body.data.status).toBe('completed');
    }, 120_000);
    expect((await sentOf(other)).rows[0]?.count).toBe(RECIPIENTS);
    expect(sent).toBeLessThan(RECIPIENTS);
    expect(mails()).toBe(sent);
    expect([...sink.counts().values()].filter((count) => count !== 1)).toEqual([]);
    await eventually(async () => expect(await runningWorkflows(api.projectId)).toEqual([]), 30_000);
  },
);

async function runningWorkflows(projectId: string): Promise<string[]> {
  const ids: string[] = [];
  const query = `projectId = '${projectId}' AND ExecutionStatus = 'Running'`;
  for await (const { workflowId } of temporal.workflow.list({ query })) ids.push(workflowId);
  return ids;
}

/** How many rows of the project a table has. */
async function rowsOf(
  { projectId }: SystemApi,
  table: 'contacts' | 'messages' | 'projects' | 'events',
): Promise<number> {
  const column = table === 'projects' ? 'id' : 'project_id';
  const { rowCount } = await system.pool.query(`SELECT FROM ${table} WHERE ${column} = $1`, [projectId]);
  return rowCount ?? 0;
}

const fenceOf = ({ projectId }: SystemApi) =>
  system.pool.query('SELECT FROM pg_trigger WHERE tgname LIKE $1', [`a_moving_%_${projectId}`]);

test(
  'a deletion that was requested while Temporal was down is done once it is up, though workers are killed with mail in flight and at half a fence',
  { timeout: 240_000 },
  async () => {
    await system.killWorker();
    const proxy = await startBreakableProxy(`tcp://${process.env.TEMPORAL_ADDRESS}`);
    onTestFinished(proxy.close);
    await system.startWorker({ TEMPORAL_ADDRESS: new URL(proxy.url).host });
    const [api, other] = [await system.api(), await system.api()];
    await startCampaign(api, { name: 'killed' });
    const kept = await startCampaign(other, { name: 'beside' });
    await eventually(async () => expect((await sentOf(api)).rows[0]?.count).toBeGreaterThan(20), 60_000);

    proxy.break();
    await remove([api.projectId, '--name', api.projectId], 'nothing new is sent');
    const { rows } = await system.pool.query('SELECT name FROM outbox WHERE workflow_id = $1', [
      `delete-${api.projectId}`,
    ]);
    expect(rows).toEqual([{ name: 'deleteProject' }]);
    // While mail is in flight.
    await system.killWorker();
    proxy.restore();

    // Keeps the fence from being completed.
    const blocking = await system.pool.connect();
    try {
      await blocking.query('BEGIN');
      await blocking.query('LOCK TABLE projects IN SHARE MODE');
      await system.startWorker();
      await eventually(async () => expect((await fenceOf(api)).rowCount).toBeGreaterThan(0), 90_000);
      await system.killWorker();
    } finally {
      await blocking.query('ROLLBACK');
      blocking.release();
    }
    expect([await rowsOf(api, 'projects'), await rowsOf(api, 'contacts')]).toEqual([1, 0]);
    await system.startWorker();
    await eventually(async () => expect(await rowsOf(api, 'projects')).toBe(0), 90_000);
    await eventually(async () => expect((await fenceOf(api)).rowCount).toBe(0), 30_000);
    expect([await rowsOf(api, 'messages'), await rowsOf(api, 'events')]).toEqual([0, 0]);
    await eventually(async () => {
      expect((await other.get(`/v1/campaigns/${kept}`)).body.data.status).toBe('completed');
    }, 120_000);
    expect([...sink.counts().values()].filter((count) => count !== 1)).toEqual([]);
    await eventually(async () => expect(await runningWorkflows(api.projectId)).toEqual([]), 60_000);
  },
);
