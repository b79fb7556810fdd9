import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Postroom } from '../../sdk/typescript/src/index.ts';
import { makeCampaign, makeEndpoint, makeTemplate, sendAndWatch } from '../demo/campaign.ts';
import { fieldsOf, importContacts } from '../demo/import.ts';
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

/** Plays the scenario of the screenshots: the demo's campaign, and typical failures. */
export async function setTheStage(postroom: Postroom, stopped: AbortSignal): Promise<Stage> {
  const dead = await postroom.webhooks.create({
    url: 'http://127.0.0.1:9/webhooks',
    events: ['contact.unsubscribed', 'campaign.completed'],
    description: 'Customer database',
  });
  const file = await readFile(join(import.meta.dirname, '../../samples/contacts.csv'), 'utf8');
  const names = { group_name: 'Newsletter', file_name: 'contacts.csv' };
  const imported = await importContacts(postroom, file, names, stopped);
  const group = await groupWithTrouble(postroom, imported.groupId);
  const template = await makeTemplate(postroom, 'Autumn newsletter', await fieldsOf(postroom, imported));
  const segment = await postroom.segments.create({
    name: 'Enterprise customers',
    filter: { field: 'customFields.plan', op: 'is', value: 'enterprise' },
  });
  const receiver = await Receiver.start();
  try {
    await makeEndpoint(postroom, receiver);
    const letter = { fromEmail: FROM, templateId: template.id, groupId: group };
    const { id: campaign } = await makeCampaign(postroom, {
      name: 'Autumn newsletter',
      subject: 'What is new this autumn',
      ...letter,
    });
    await sendAndWatch(postroom, campaign, receiver, stopped);
    const contact = await contactWithAStory(postroom, group);
    const event = await trackOrders(postroom, contact);
    const email = await sendOrders(postroom);
    const { id: running } = await makeCampaign(postroom, {
      name: 'Weekly digest',
      subject: 'Your week, {{name|there}}',
      ...letter,
    });
    await postroom.campaigns.update(running, { rate_per_second: 4 });
    await postroom.campaigns.send(running);
    const delivery = await openDelivery(postroom, dead.id);
    return {
      campaign,
      running,
      contact,
      event,
      segment: segment.id,
      template: template.id,
      import: imported.id,
      endpoint: dead.id,
      delivery,
      email,
    };
  } finally {
    await receiver.stop();
  }
}

/** Adds addresses that simulate failures: see docs/how-to/inbox.md. */
async function groupWithTrouble(postroom: Postroom, id: string): Promise<string> {
  const names = (kind: string, howMany: number) =>
    Array.from({ length: howMany }, (_, index) => ({ email: `${kind}+${index + 1}@simulator.invalid` }));
  const contacts = [...names('bounced', 9), ...names('complained', 1), ...names('refused', 5)];
  await postroom.contacts.batch({ contacts });
  await postroom.groups.addContacts(id, { emails: contacts.map(({ email }) => email) });
  return id;
}

/** Some unsubscribe, as after every newsletter; returns one who stays. */
async function contactWithAStory(postroom: Postroom, groupId: string): Promise<string> {
  const { data } = await postroom.contacts.list({ limit: 8, group_id: groupId, search: 'example' });
  for (const { id } of data.slice(1, 5)) await postroom.contacts.update(id, { subscribed: false });
  const [first] = data;
  if (first === undefined) throw new Error('The group has no members.');
  await postroom.contacts.update(first.id, { name: 'Ada Lovelace', email: 'ada.lovelace@example.com' });
  return first.id;
}

/** Orders of the last weeks; one has a total that is no number. */
async function trackOrders(postroom: Postroom, contactId: string): Promise<string> {
  const DAY_MS = 86_400_000;
  await postroom.events.track({
    events: Array.from({ length: 24 }, (_, index) => ({
      name: 'order placed',
      contact_id: contactId,
      properties: { order: `A-${1000 + index}`, total: index === 3 ? 'free' : 10 + index },
      occurred_at: new Date(Date.now() - (index % 9) * index * 0.1 * DAY_MS).toISOString(),
    })),
  });
  const [definition] = await postroom.events.definitions().toArray(1);
  return definition?.id ?? '';
}

async function sendOrders(postroom: Postroom): Promise<string> {
  let last = '';
  for (const [to, subject] of [
    ['ada@example.com', 'Your order 4711 is on its way'],
    ['grace@example.com', 'Your receipt'],
    ['bounced@simulator.invalid', 'Your order 4712 is on its way'],
    ['alan@example.com', 'Reset your password'],
  ] as const) {
    const email = await postroom.emails.send({
      from: `Shop <${FROM}>`,
      to,
      subject,
      html: '<h1>Thank you</h1><p>Your parcel left our house this morning.</p>',
      tags: ['order'],
    });
    last = email.id;
  }
  return last;
}

/** A delivery whose first attempt has failed and that waits for the next. */
async function openDelivery(postroom: Postroom, endpointId: string): Promise<string> {
  return until(async () => {
    const [delivery] = await postroom.webhooks.deliveries(endpointId, { state: 'retried' }).toArray(1);
    return delivery?.id;
  });
}

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(LOOK_EVERY_MS);
  }
}
