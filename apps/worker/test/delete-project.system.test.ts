import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  addCampaign,
  eventually,
  type SmtpSink,
  startSmtpSink,
  startSystem,
  type System,
  type SystemApi,
  temporalClient,
} from '@postroom/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
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
    await remove([api.projectId, '--name', name], 'nothing new is sent');
    expect((await api.get(`/v1/campaigns/${campaign}`)).status).toBe(503);
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
