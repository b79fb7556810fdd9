import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeCampaign, makeEndpoint, makeTemplate, sendAndWatch } from '../demo/campaign.ts';
import type { Client } from '../demo/client.ts';
import { Receiver } from '../demo/receiver.ts';

/** The subjects of the screenshots. */
export interface Stage {
  /** A completed campaign. */
  campaign: string;
  /** One that is being sent slowly. */
  running: string;
  /** A contact with activity. */
  contact: string;
  segment: string;
  /** An event name whose properties have a conflict. */
  event: string;
  template: string;
  import: string;
  /** An endpoint without a listener, so that deliveries to it stay open. */
  endpoint: string;
  delivery: string;
  email: string;
}

const FROM = 'hello@demo.postroom.example';
const LOOK_EVERY_MS = 250;

interface Data<T> {
  data: T;
}

/** Plays the scenario of the screenshots: the demo's campaign, and typical failures. */
export async function setTheStage(api: Client, stopped: AbortSignal): Promise<Stage> {
  const dead = await api.post<Data<{ id: string }>>('/v1/webhooks', {
    url: 'http://127.0.0.1:9/webhooks',
    events: ['contact.unsubscribed', 'campaign.completed'],
    description: 'Customer database',
  });
  const imported = await importContacts(api);
  const group = await groupWithTrouble(api, imported.groupId);
  const fields = await fieldsOf(api);
  const template = await makeTemplate(api, 'Autumn newsletter', fields);
  const { data: segment } = await api.post<Data<{ id: string }>>('/v1/segments', {
    name: 'Enterprise customers',
    filter: { field: 'customFields.plan', op: 'is', value: 'enterprise' },
  });
  const receiver = await Receiver.start();
  try {
    await makeEndpoint(api, receiver);
    const letter = { fromEmail: FROM, templateId: template.id, groupId: group };
    const { id: campaign } = await makeCampaign(api, {
      name: 'Autumn newsletter',
      subject: 'What is new this autumn',
      ...letter,
    });
    await sendAndWatch(api, campaign, receiver, stopped);
    const contact = await contactWithAStory(api, group);
    const event = await trackOrders(api, contact);
    const email = await sendOrders(api);
    const { id: running } = await makeCampaign(api, {
      name: 'Weekly digest',
      subject: 'Your week, {{name|there}}',
      ...letter,
    });
    await api.patch(`/v1/campaigns/${running}`, { rate_per_second: 4 });
    await api.post(`/v1/campaigns/${running}/send`);
    const delivery = await openDelivery(api, dead.data.id);
    return {
      campaign,
      running,
      contact,
      event,
      segment: segment.id,
      template: template.id,
      import: imported.id,
      endpoint: dead.data.id,
      delivery,
      email,
    };
  } finally {
    await receiver.stop();
  }
}

interface Import {
  id: string;
  status: string;
  groupId: string;
}

/** Imports the demo's file; its contacts join a group. */
async function importContacts(api: Client): Promise<Import> {
  const file = await readFile(join(import.meta.dirname, '../../samples/contacts.csv'), 'utf8');
  const { id } = await api.upload<Import>('/v1/imports', file, {
    file_name: 'contacts.csv',
    create_fields: 'true',
    group_name: 'Newsletter',
  });
  return until(async () => {
    const { data } = await api.get<Data<Import>>(`/v1/imports/${id}`);
    return data.status === 'completed' ? data : undefined;
  });
}

/** Adds addresses that simulate failures: see docs/how-to/inbox.md. */
async function groupWithTrouble(api: Client, id: string): Promise<string> {
  const names = (kind: string, howMany: number) =>
    Array.from({ length: howMany }, (_, index) => ({ email: `${kind}+${index + 1}@simulator.invalid` }));
  const contacts = [...names('bounced', 9), ...names('complained', 1), ...names('refused', 5)];
  await api.post('/v1/contacts/batch', { contacts });
  await api.post(`/v1/groups/${id}/contacts`, { emails: contacts.map(({ email }) => email) });
  return id;
}

async function fieldsOf(api: Client) {
  const { data } = await api.get<Data<{ key: string; label: string; type: 'text' }[]>>('/v1/custom-fields');
  return data.map((field) => ({ ...field, column: 0, options: [] }));
}

/** Some unsubscribe, as after every newsletter; returns one who stays. */
async function contactWithAStory(api: Client, groupId: string): Promise<string> {
  const { data } = await api.get<Data<{ id: string }[]>>(`/v1/contacts?limit=8&group_id=${groupId}&search=example`);
  for (const { id } of data.slice(1, 5)) await api.patch(`/v1/contacts/${id}`, { subscribed: false });
  const [first] = data;
  if (first === undefined) throw new Error('The group has no members.');
  await api.patch(`/v1/contacts/${first.id}`, { name: 'Ada Lovelace', email: 'ada.lovelace@example.com' });
  return first.id;
}

/** Orders of the last weeks; one has a total that is no number. */
async function trackOrders(api: Client, contactId: string): Promise<string> {
  const DAY_MS = 86_400_000;
  await api.post('/v1/events', {
    events: Array.from({ length: 24 }, (_, index) => ({
      name: 'order placed',
      contact_id: contactId,
      properties: { order: `A-${1000 + index}`, total: index === 3 ? 'free' : 10 + index },
      occurred_at: new Date(Date.now() - (index % 9) * index * 0.1 * DAY_MS).toISOString(),
    })),
  });
  const { data } = await api.get<Data<{ id: string }[]>>('/v1/event-definitions');
  return data[0]?.id ?? '';
}

async function sendOrders(api: Client): Promise<string> {
  let last = '';
  for (const [to, subject] of [
    ['ada@example.com', 'Your order 4711 is on its way'],
    ['grace@example.com', 'Your receipt'],
    ['bounced@simulator.invalid', 'Your order 4712 is on its way'],
    ['alan@example.com', 'Reset your password'],
  ]) {
    const { data } = await api.post<Data<{ id: string }>>('/v1/emails', {
      from: `Shop <${FROM}>`,
      to,
      subject,
      html: '<h1>Thank you</h1><p>Your parcel left our house this morning.</p>',
      tags: ['order'],
    });
    last = data.id;
  }
  return last;
}

/** A delivery whose first attempt has failed and that waits for the next. */
async function openDelivery(api: Client, endpointId: string): Promise<string> {
  return until(async () => {
    const path = `/v1/webhooks/${endpointId}/deliveries?state=retried`;
    const { data } = await api.get<Data<{ id: string }[]>>(path);
    return data[0]?.id;
  });
}

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(LOOK_EVERY_MS);
  }
}
