import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts, run, startTemporal, temporalBinary } from '@postroom/embedded';
import { newId, SEARCH_ATTRIBUTES, startWorkflow } from '@postroom/platform';
import {
  addGroup,
  eventually,
  type Receiver,
  type SmtpSink,
  startReceiver,
  startSmtpSink,
  startSystem,
  type System,
  type SystemApi,
} from '@postroom/testkit';
import { Client, Connection } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

const RECIPIENTS = 300;
/** Long enough for every test to recover its work, which the sweep looks for every 15 seconds. */
const timeout = 180_000;

let folder: string;
let server: Awaited<ReturnType<typeof startTemporal>>;
let ports: number[];
let sink: SmtpSink;
let receiver: Receiver;
let system: System;
let isReceiverDown = false;

/** A Temporal server in memory: starting another one on its port replaces its data. */
const startEmptyTemporal = async () =>
  startTemporal(run, {
    binary: await temporalBinary(undefined, console.log),
    port: ports[0] ?? 0,
    uiPort: ports[1] ?? 0,
    logFile: join(folder, 'temporal.log'),
  });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'postroom-durable-'));
  ports = await freePorts(2);
  server = await startEmptyTemporal();
  sink = await startSmtpSink(async (to, tries) => {
    await sleep(20);
    return to.startsWith('later') && tries === 0 ? { code: 451, message: '4.7.1 Try again later' } : undefined;
  });
  receiver = await startReceiver((_, response) => void response.writeHead(isReceiverDown ? 500 : 200).end());
  system = await startSystem({ smtpUrl: sink.url, env: { TEMPORAL_ADDRESS: server.address } });
}, 120_000);

afterAll(async () => {
  await system.stop();
  await server.stop();
  await receiver.close();
  await sink.close();
  rmSync(folder, { recursive: true, force: true });
});

afterEach(() => system.killWorker());

async function withClient<T>(work: (client: Client, connection: Connection) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address: server.address });
  try {
    return await work(new Client({ connection }), connection);
  } finally {
    await connection.close();
  }
}

const one = async (text: string, values: unknown[]) => (await system.pool.query(text, values)).rows[0];
const created = async (api: SystemApi, path: string, body: unknown) => {
  const reply = await api.post(path, body);
  expect([reply.status, JSON.stringify(reply.body)]).toEqual([expect.toBeOneOf([200, 201, 202]), expect.anything()]);
  return reply.body.data;
};

/** The ids of open work of every kind. */
interface OpenWork {
  api: SystemApi;
  name: string;
  sending: string;
  scheduled: string;
  scheduledAt: string;
  imported: string;
  bulk: string;
  domain: string;
  email: string;
}

/** Starts work of every kind and kills the worker in the middle of each. */
async function openEverything(name: string): Promise<OpenWork> {
  const api = await system.api();
  await system.startWorker();
  const group = await addGroup(system.pool, api, { name, contacts: RECIPIENTS });
  const campaign = (title: string, more: object) =>
    created(api, '/v1/campaigns', {
      name: title,
      subject: title,
      from_email: 'news@example.com',
      html: '<p>Hello</p>',
      group_ids: [group],
      ...more,
    });
  const sending = (await campaign('Sending', { rate_per_second: 20 })).id;
  const scheduled = (await campaign('Scheduled', {})).id;
  const scheduledAt = new Date(Date.now() + 30_000).toISOString();
  await created(api, `/v1/campaigns/${sending}/send`, {});
  await created(api, `/v1/campaigns/${scheduled}/schedule`, { scheduled_at: scheduledAt });
  const email = (
    await created(api, '/v1/emails', {
      from: 'post@example.com',
      to: `later-${name}@mail.test`,
      subject: 'Receipt',
      text: 'Thank you.',
    })
  ).id;
  const domain = newId('dom');
  await system.pool.query(
    `INSERT INTO domains (id, project_id, domain, mail_from_domain, updated_at)
     VALUES ($1, $2, $3 || '.example.org', 'bounce.' || $3 || '.example.org', now())`,
    [domain, api.projectId, name],
  );
  await startWorkflow(system.pool, { workflowId: domain, type: 'verifyDomain', args: [domain] });
  await eventually(async () => expect((await stateOf(email)).deferrals).toBe(1), 30_000);
  await eventually(async () => expect((await domainOf(domain)).next_check_at).not.toBeNull(), 60_000);
  isReceiverDown = true;
  await created(api, '/v1/webhooks', { url: receiver.url, events: ['contact.created'] });
  await created(api, '/v1/contacts', { email: `${name}@example.net` });
  await eventually(async () => expect((await deliveryOf(api)).state).toBe('retried'), 30_000);

  const lock = await system.pool.connect();
  await lock.query('BEGIN; LOCK TABLE contacts IN SHARE ROW EXCLUSIVE MODE'); // keeps the next two from ending
  const upload = await fetch(`${system.url}/v1/imports`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${api.key}`, 'Content-Type': 'text/csv' },
    body: `email\n${Array.from({ length: 1_000 }, (_, n) => `${name}-imported${n}@example.net`).join('\n')}`,
  });
  expect(upload.status).toBe(202);
  const imported = ((await upload.json()) as { data: { id: string } }).data.id;
  const bulk = (
    await created(api, '/v1/bulk-operations', {
      action: 'suppress',
      filter: { where: { field: 'email', op: 'contains', value: `${name}@example.net` } },
    })
  ).id;
  for (const workflowId of [imported, bulk])
    await eventually(() => withClient((client) => client.workflow.getHandle(workflowId).describe()), 30_000);
  await eventually(async () => expect((await campaignOf(sending)).accepted_count).toBeGreaterThan(5), 30_000);
  await system.killWorker();
  await lock.query('ROLLBACK');
  lock.release();
  isReceiverDown = false;
  expect((await campaignOf(sending)).status).toBe('sending');
  return { api, name, sending, scheduled, scheduledAt, imported, bulk, domain, email };
}

const campaignOf = (id: string) => one('SELECT * FROM campaigns WHERE id = $1', [id]);
const stateOf = (id: string) => one('SELECT * FROM messages WHERE id = $1', [id]);
const domainOf = (id: string) => one('SELECT * FROM domains WHERE id = $1', [id]);
const deliveryOf = (api: SystemApi) =>
  one('SELECT * FROM deliveries WHERE project_id = $1 ORDER BY id LIMIT 1', [api.projectId]);

/** Makes the next step of what waits due, which would otherwise take minutes. */
async function makeDue({ api, email, domain }: OpenWork): Promise<void> {
  const past = `now() - interval '5 minutes'`;
  await system.pool.query(`UPDATE messages SET not_before = ${past}, dispatched_at = ${past} WHERE id = $1`, [email]);
  await system.pool.query(`UPDATE domains SET next_check_at = ${past} WHERE id = $1`, [domain]);
  await system.pool.query(
    `UPDATE deliveries SET next_attempt_at = ${past}, dispatched_at = ${past} WHERE project_id = $1`,
    [api.projectId],
  );
}

/** What ends the same way, however the workflow was lost. */
async function expectEverythingToEnd({ name, sending, scheduled, imported, bulk, domain }: OpenWork): Promise<void> {
  for (const id of [sending, scheduled])
    await eventually(async () => expect(await campaignOf(id)).toMatchObject({ status: 'completed' }), 90_000);
  const statusIn = (table: string, id: string) => one(`SELECT status, error FROM ${table} WHERE id = $1`, [id]);
  await eventually(async () => expect((await statusIn('imports', imported)).status).toBe('completed'), 60_000);
  await eventually(async () => expect((await statusIn('bulk_operations', bulk)).status).toBe('completed'), 60_000);
  expect(await one('SELECT created, duplicates, invalid FROM imports WHERE id = $1', [imported])).toEqual({
    created: 1_000,
    duplicates: 0,
    invalid: 0,
  });
  await eventually(
    async () => expect((await domainOf(domain)).next_check_at.getTime()).toBeGreaterThan(Date.now()),
    60_000,
  );
  // One message of each campaign at most per recipient, and none missing except those in flight at the kill.
  const { accepted_count: accepted, unknown_count: unknown } = await campaignOf(sending);
  expect(accepted + unknown).toBe(RECIPIENTS);
  const received = (subject: string) =>
    sink.mails.filter(({ to, raw }) => to.startsWith(name) && raw.includes(`Subject: ${subject}`)).map(({ to }) => to);
  for (const subject of ['Sending', 'Scheduled'])
    expect(new Set(received(subject)).size).toBe(received(subject).length);
  expect(received('Sending').length).toBeGreaterThanOrEqual(accepted);
}

const schedules = () =>
  withClient(async (client) => {
    const ids: string[] = [];
    for await (const { scheduleId } of client.schedule.list()) ids.push(scheduleId);
    return ids;
  });

test(
  'work of every kind whose workflow was terminated comes back, or ends as the operator decided',
  { timeout },
  async () => {
    const open = await openEverything('terminated');
    const { workflow_id: delivery } = await deliveryOf(open.api);
    await withClient(async (client) => {
      const { sending, scheduled, scheduledAt, imported, bulk, domain, email } = open;
      for (const id of [sending, `${scheduled}@${scheduledAt}`, imported, bulk, domain, email, delivery])
        await client.workflow.getHandle(id).terminate('by the test');
    });
    await makeDue(open);
    await system.startWorker();
    await expectEverythingToEnd(open);
    await eventually(async () => expect((await stateOf(open.email)).state).toBe('canceled'), 60_000);
    await eventually(async () => expect((await deliveryOf(open.api)).state).toBe('failed'), 60_000);
  },
);

test('work of every kind goes on after the data of Temporal was replaced', { timeout }, async () => {
  const open = await openEverything('replaced');
  await server.stop();
  server = await startEmptyTemporal();
  await makeDue(open);
  await system.startWorker();
  await expectEverythingToEnd(open);
  await eventually(async () => expect((await stateOf(open.email)).state).toBe('accepted'), 60_000);
  await eventually(async () => expect((await deliveryOf(open.api)).state).toBe('acknowledged'), 60_000);
  expect(sink.mails.filter(({ to }) => to === 'later-replaced@mail.test')).toHaveLength(1);
});

test(
  'schedules and search attributes that disappear while the worker runs come back, and work starts without them',
  { timeout: 2 * timeout },
  async () => {
    const api = await system.api();
    await system.startWorker();
    const before = await eventually(async () => {
      const found = await schedules();
      expect(found.length).toBeGreaterThanOrEqual(2);
      return found;
    });
    const attributes = () =>
      withClient(async (_, { operatorService }) => {
        const { customAttributes } = await operatorService.listSearchAttributes({ namespace: 'default' });
        return Object.keys(customAttributes ?? {});
      });
    await withClient(async (client, { operatorService }) => {
      for (const id of before) await client.schedule.getHandle(id).delete();
      await operatorService.removeSearchAttributes({ namespace: 'default', searchAttributes: [...SEARCH_ATTRIBUTES] });
    });
    const { id } = await created(api, '/v1/emails', {
      from: 'post@example.com',
      to: 'unlabeled@mail.test',
      subject: 'Receipt',
      text: 'Thank you.',
    });
    // A workflow that has begun to set attributes waits until they are back, and then for Temporal's next attempt.
    await eventually(async () => expect((await stateOf(id)).state).toBe('accepted'), timeout);
    await eventually(async () => expect((await schedules()).sort()).toEqual(before.sort()), 60_000);
    await eventually(
      async () => expect(await attributes()).toEqual(expect.arrayContaining([...SEARCH_ATTRIBUTES])),
      60_000,
    );
  },
);
