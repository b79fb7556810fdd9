import { createHmac } from 'node:crypto';
import {
  eventually,
  type Received,
  type Receiver,
  startReceiver,
  startSystem,
  type System,
  type SystemApi,
} from '@postroom/testkit';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EVENT_TYPE_NAMES, type EventTypeName } from '@postroom/events';

let system: System;
let receiver: Receiver;
let api: SystemApi;
let endpoint: { id: string; secret: string };

beforeAll(async () => {
  receiver = await startReceiver();
  system = await startSystem();
  await system.startWorker();
  api = await system.api();
  endpoint = await done(api.post('/v1/webhooks', { url: receiver.url, events: ['*'] }));
}, 120_000);

afterAll(async () => {
  await system.stop();
  await receiver.close();
});

/** The gateway's response, unless it is an error. */
async function done(replying: ReturnType<SystemApi['get']>) {
  const { status, body } = await replying;
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body.data;
}

/** Simulator addresses of the inbox (docs/how-to/inbox.md). */
const BEHAVIORS = ['bounced', 'complained', 'rejected', 'refused', 'opened', 'clicked'];

const SENDER = 'news@example.com';
const HTML = '<p>Hello {{name|there}}, <a href="https://shop.example/november">read on</a>.</p>';

/** Sends an email without a campaign or contact. */
const email = (to: string, more: Record<string, unknown> = {}) =>
  done(api.post('/v1/emails', { from: SENDER, to: [to], subject: 'Your order', html: HTML, ...more }));

/** Creates a campaign for new contacts with these addresses. */
async function draft(name: string, addresses: string[], more: Record<string, unknown> = {}): Promise<string> {
  await done(api.post('/v1/contacts/batch', { contacts: addresses.map((email) => ({ email, name: 'A Reader' })) }));
  const { id: group } = await done(api.post('/v1/groups', { name, emails: addresses }));
  const letter = { name, subject: 'News', from_email: SENDER, html: HTML, group_ids: [group], ...more };
  const { id } = await done(api.post('/v1/campaigns', letter));
  return id;
}

/** Sends a campaign to new contacts with these addresses. */
async function campaign(name: string, addresses: string[]): Promise<string> {
  const id = await draft(name, addresses);
  await done(api.post(`/v1/campaigns/${id}/send`));
  return id;
}

/** Schedules and unschedules a slow campaign, starts it, pauses and resumes it, and cancels it. */
async function command(): Promise<string> {
  const id = await draft('Commands', ['first@mail.test', 'second@mail.test'], { rate_per_second: 1 });
  await done(
    api.post(`/v1/campaigns/${id}/schedule`, { scheduled_at: new Date(Date.now() + 3_600_000).toISOString() }),
  );
  for (const verb of ['unschedule', 'send', 'pause', 'resume', 'cancel'])
    await done(api.post(`/v1/campaigns/${id}/${verb}`));
  return id;
}

/** Starts an A/B test. */
async function testVariants(name: string) {
  const campaign_id = await draft(name, [`${name}@mail.test`]);
  const { id } = await done(api.post('/v1/ab-tests', { campaign_id, sample_percent: 100 }));
  await done(api.post(`/v1/ab-tests/${id}/start`));
  return { path: `/v1/ab-tests/${id}`, campaign_id };
}

/** Imports a file, one without addresses, and one whose upload is canceled. */
async function importFiles(): Promise<void> {
  const headers = { Authorization: `Bearer ${api.key}`, 'Content-Type': 'text/csv' };
  for (const file of ['email\nimported@mail.test\n', 'names\n'])
    expect((await fetch(`${system.url}/v1/imports`, { method: 'POST', headers, body: file })).status).toBe(202);
  const query = 'mutation { createImport(input: {}) { id } }';
  const { body } = await api.post('/graphql', { query });
  await done(api.post(`/v1/imports/${body.data.createImport.id}/cancel`));
}

async function contactsChange(): Promise<void> {
  const { id } = await done(api.post('/v1/contacts', { email: 'ada@mail.test' }));
  const path = `/v1/contacts/${id}`;
  await done(api.patch(path, { name: 'Zoë 🐘' }));
  await done(api.patch(path, { subscribed: false }));
  await done(api.patch(path, { subscribed: true }));
  const placed = { name: 'order placed', contact_id: id, properties: { total: 9.5 } };
  expect((await api.post('/v1/events', placed)).status).toBeLessThan(300);
  await done(api.delete(path));
}

/** Subscribes by a form without double opt-in. */
async function subscribe(): Promise<void> {
  const origin = 'https://www.example.com';
  const settings = { name: 'Newsletter', double_opt_in: false, allowed_origins: [origin] };
  const { id } = await done(api.post('/v1/forms', settings));
  const reply = await fetch(`${system.url}/f/${id}`, {
    method: 'POST',
    headers: { Origin: origin, 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: 'subscriber@mail.test' }),
  });
  expect(reply.status).toBe(202);
}

/** Follows the unsubscribe link of an address's mail, as mail clients do for one-click unsubscribe. */
async function unsubscribe(address: string): Promise<void> {
  const link = await eventually(async () => {
    const mails = await fetch(`${system.inboxUrl}/api/mails?recipient=${encodeURIComponent(address)}`);
    const { data } = (await mails.json()) as { data: { id: string }[] };
    const mail = await fetch(`${system.inboxUrl}/api/mails/${data[0]?.id}`);
    const { html } = ((await mail.json()) as { data: { html: string } }).data;
    const [found] = /http[^"]*\/u\/[^"]+/.exec(html) ?? [];
    expect(found).toBeDefined();
    return found ?? '';
  }, 60_000);
  const reply = await fetch(link, { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) });
  expect(reply.status).toBe(200);
}

async function askForTest(): Promise<void> {
  const query = 'mutation ($id: ID!) { sendTestWebhook(id: $id) { eventId } }';
  const { body } = await api.post('/graphql', { query, variables: { id: endpoint.id } });
  expect(body.errors).toBeUndefined();
}

/** Verifies the signature as a receiver would (spec: Signature). */
function expectSignature({ headers, raw, event }: Received): void {
  const [, timestamp = '', hex] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-webhook-signature'])) ?? [];
  expect(hex).toBe(createHmac('sha256', endpoint.secret).update(`${timestamp}.${raw}`).digest('hex'));
  expect(Math.abs(Date.now() / 1000 - Number(timestamp))).toBeLessThan(300);
  expect(headers['x-webhook-timestamp']).toBe(timestamp);
  expect(headers['x-webhook-event']).toBe(event.type);
  expect(headers['x-webhook-id']).toBeTruthy();
}

interface Published {
  takes: ValidateFunction;
  /** The members of `data` that the schema names. */
  members: Set<string>;
}

async function published(type: string): Promise<Published> {
  const reply = await fetch(`${system.url}/docs/events/${type}.json`);
  expect(reply.status, type).toBe(200);
  const schema = (await reply.json()) as { properties: { data: { properties: object } } };
  return {
    takes: new Ajv2020({ allErrors: true }).compile(schema),
    members: new Set(Object.keys(schema.properties.data.properties)),
  };
}

const bodiesOf = (type: string) => receiver.received.map(({ event }) => event).filter((event) => event.type === type);

test(
  'an endpoint for ["*"] gets every type as they come about, each signed and as its published schema says',
  { timeout: 180_000 },
  async () => {
    await contactsChange();
    await askForTest();
    await subscribe();
    await importFiles();
    const commanded = await command();
    const { path: decided, campaign_id } = await testVariants('decided');
    await done(api.post(`${decided}/choose-winner`, { campaign_id }));
    const { path: abandoned } = await testVariants('abandoned');
    await done(api.post(`${abandoned}/cancel`));
    for (const behavior of BEHAVIORS)
      await email(`${behavior}@simulator.invalid`, { tags: ['receipt'], metadata: { order: 'A-1007', items: [1, 2] } });
    const readers = ['reader@mail.test', ...BEHAVIORS.map((behavior) => `${behavior}+1@simulator.invalid`)];
    const news = await campaign('November', readers);
    await unsubscribe('reader@mail.test');
    // The recipients' server rejects one after the other until the default rule pauses the campaign.
    const refused = Array.from({ length: 200 }, (_, index) => `refused+all${index}@simulator.invalid`);
    const paused = await campaign('Refused', refused);

    const missing = () => EVENT_TYPE_NAMES.filter((type) => bodiesOf(type).length === 0);
    await eventually(() => expect(missing()).toEqual([]), 120_000);
    for (const type of ['email.opened', 'email.clicked', 'email.bounced', 'email.rejected', 'email.failed'] as const)
      await eventually(
        () => expect(new Set(bodiesOf(type).map(({ data }) => data.campaign_id))).toContain(news),
        60_000,
      );

    const schemas = new Map(
      await Promise.all(EVENT_TYPE_NAMES.map(async (type) => [type, await published(type)] as const)),
    );
    for (const received of receiver.received) {
      const { type, data, created, project_id: projectId } = received.event;
      const { takes, members } = schemas.get(type as EventTypeName) ?? (await published(type));
      expectSignature(received);
      expect([takes(received.event), takes.errors], received.raw).toEqual([true, null]);
      expect(
        Object.keys(data).filter((name) => !members.has(name)),
        `undocumented members of ${type}`,
      ).toEqual([]);
      expect(projectId).toBe(api.projectId);
      expect(new Date(created).toISOString()).toBe(created);
    }
    expect(bodiesOf('campaign.paused').map(({ data }) => data.campaign_id)).toEqual([paused]);
    expect(bodiesOf('campaign.completed').map(({ data }) => data.campaign_id)).toContain(news);
    for (const type of ['campaign.paused_manually', 'campaign.resumed'] as const)
      expect(bodiesOf(type).map(({ data }) => data.campaign_id)).toEqual([commanded]);
    expect(bodiesOf('ab_test.completed').map(({ data }) => data.winner_id)).toEqual([campaign_id]);
    expect(bodiesOf('webhook.test').map(({ data }) => data.endpoint_id)).toEqual([endpoint.id]);
    expect(bodiesOf('contact.unsubscribed').map(({ data }) => data.email)).toContain('reader@mail.test');
  },
);
