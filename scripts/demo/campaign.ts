import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from './client.ts';
import type { Field } from './columns.ts';
import { count, progress, some } from './print.ts';
import type { Receiver } from './receiver.ts';

/** The fields of a campaign that the demo reads. */
export interface Campaign {
  id: string;
  status: string;
  recipientCount: number;
  startedAt: string | null;
  completedAt: string | null;
  engagement: {
    sent: number;
    delivered: number;
    opened: number;
    clicked: number;
    bounced: number;
    complained: number;
  };
  progress: {
    planned: number;
    claimed: number;
    accepted: number;
    failed: number;
    suppressed: number;
    unknown: number;
    canceled: number;
  };
}

/** Events that the receiver expects. */
const EVENTS = [
  'email.sent',
  'email.failed',
  'email.delivered',
  'email.bounced',
  'email.complained',
  'email.rejected',
  'campaign.started',
  'campaign.completed',
  'campaign.paused',
];

/** Contacts per request. */
const MEMBERS_A_REQUEST = 1000;

/** A group of all these contacts. */
export async function makeGroup(
  api: Client,
  name: string,
  contactIds: readonly string[],
): Promise<{ id: string; memberCount: number }> {
  const first = contactIds.slice(0, MEMBERS_A_REQUEST);
  const { data: group } = await api.post<{ data: { id: string; contactCount: number } }>('/v1/groups', {
    name,
    contact_ids: first,
  });
  let memberCount = group.contactCount;
  for (let start = MEMBERS_A_REQUEST; start < contactIds.length; start += MEMBERS_A_REQUEST) {
    const more = { contact_ids: contactIds.slice(start, start + MEMBERS_A_REQUEST) };
    const { data } = await api.post<{ data: { memberCount: number } }>(`/v1/groups/${group.id}/contacts`, more);
    ({ memberCount } = data);
    progress(`${count(memberCount)} of ${count(contactIds.length)} members`, memberCount / contactIds.length);
  }
  return { id: group.id, memberCount };
}

/** Custom fields that the mail shows; more would make a dull email. */
const SHOWN_FIELDS = 4;

/** A published template that greets contacts by name and shows their fields; missing values have a default. */
export async function makeTemplate(api: Client, name: string, fields: readonly Field[]): Promise<{ id: string }> {
  const body = templateBody(fields.slice(0, SHOWN_FIELDS));
  const { data: template } = await api.post<{ data: { id: string } }>('/v1/templates', { name, body });
  await api.post(`/v1/templates/${template.id}/publish`);
  return template;
}

function templateBody(fields: readonly Field[]): string {
  const rows = fields.map(
    ({ key, label }) => `
        <tr><td style="padding: 4px 16px 4px 0; color: #667069">${escape(label)}</td><td>{{${key}|not known}}</td></tr>`,
  );
  return `<!doctype html>
<html lang="en">
  <body style="margin: 0; padding: 32px 12px; background: #f4f5f3; font: 16px/1.5 Helvetica, Arial, sans-serif; color: #1b221f">
    <div style="max-width: 560px; margin: auto; padding: 32px; border-radius: 12px; background: #fff">
      <h1 style="margin-top: 0; font-size: 24px">Hello {{name|there}},</h1>
      <p>this mail went out by <b>Postroom</b>: rendered for you alone, sent once, and everything that happens to it
      is told to a webhook.</p>${
        rows.length === 0
          ? ''
          : `
      <p>This is what we know of {{email}}:</p>
      <table style="border-collapse: collapse">${rows.join('')}
      </table>`
      }
      <p><a href="https://postroom.example/welcome">What else it does</a></p>
      <p style="margin-bottom: 0">The post room</p>
      <p style="margin-bottom: 0; font-size: 13px"><a style="color: #667069" href="{{unsubscribe_url}}">Unsubscribe</a></p>
    </div>
  </body>
</html>
`;
}

const escape = (text: string) => text.replace(/[&<>"{}]/g, (character) => `&#${character.charCodeAt(0)};`);

/** Creates an endpoint for the receiver and gives it the secret, which only this response contains. */
export async function makeEndpoint(api: Client, receiver: Receiver): Promise<{ id: string }> {
  const body = { url: receiver.url, events: EVENTS, description: 'The receiver of npm run demo' };
  const { data } = await api.post<{ data: { id: string; secret: string } }>('/v1/webhooks', body);
  receiver.secret = data.secret;
  return data;
}

export interface Letter {
  name: string;
  subject: string;
  fromEmail: string;
  templateId: string;
  groupId: string;
}

/** A campaign that is ready to send. */
export async function makeCampaign(
  api: Client,
  { name, subject, fromEmail, templateId, groupId }: Letter,
): Promise<Campaign> {
  const { data } = await api.post<{ data: Campaign }>('/v1/campaigns', {
    name,
    subject,
    from_name: 'Postroom demo',
    from_email: fromEmail,
    template_id: templateId,
    group_ids: [groupId],
  });
  return data;
}

/** How long the demo waits without any progress. */
const STALL_TIMEOUT_MS = 90_000;
const LOOK_EVERY_MS = 1_000;
const ENDED = new Set(['completed', 'canceled', 'paused']);

export interface Outcome {
  campaign: Campaign;
  /** Arrival of the last event as `performance.now()`; `undefined` if some are missing. */
  lastEventAt: number | undefined;
}

/** Sends the campaign and shows its progress until it has ended and every event has arrived, or progress stops. */
export async function sendAndWatch(
  api: Client,
  id: string,
  receiver: Receiver,
  stopped: AbortSignal,
): Promise<Outcome> {
  await api.post(`/v1/campaigns/${id}/send`);
  const read = async () => (await api.get<{ data: Campaign }>(`/v1/campaigns/${id}`)).data;
  let campaign = await read();
  const unsubscribe = watch(api, id, (newer) => {
    campaign = { ...campaign, ...newer };
    show(campaign, receiver);
  });
  try {
    let moved = { at: Date.now(), what: '' };
    for (;;) {
      campaign = await read();
      show(campaign, receiver);
      if (ENDED.has(campaign.status) && receiver.events >= expectedEvents(campaign))
        return { campaign, lastEventAt: receiver.lastEventAt };
      const what = `${campaign.status} ${JSON.stringify([campaign.engagement, campaign.progress])} ${receiver.events}`;
      if (what !== moved.what) moved = { at: Date.now(), what };
      if (Date.now() - moved.at > STALL_TIMEOUT_MS) return { campaign, lastEventAt: undefined };
      await Promise.race([receiver.next(LOOK_EVERY_MS), sleep(LOOK_EVERY_MS, undefined, { signal: stopped })]);
      stopped.throwIfAborted();
      await sleep(LOOK_EVERY_MS / 4);
    }
  } finally {
    unsubscribe();
  }
}

/** How many of these addresses open their mail and click a link: simulated readers of the development inbox. */
export function readersAmong(emails: readonly string[]): { opened: number; clicked: number } {
  const named = (act: string) =>
    emails.filter((email) => new RegExp(`^${act}(\\+.*)?@simulator\\.invalid$`, 'i').test(email)).length;
  return { opened: named('opened') + named('clicked'), clicked: named('clicked') };
}

/** How long the demo waits for readers, who open mail after eight seconds and are classified some seconds later. */
const READING_MS = 40_000;

/** The campaign once all expected readers have read it, or their time is up. */
export async function untilRead(
  api: Client,
  campaign: Campaign,
  { opened, clicked }: { opened: number; clicked: number },
  stopped: AbortSignal,
): Promise<Campaign> {
  const until = Date.now() + READING_MS;
  for (let last = campaign; ;) {
    const { engagement } = last;
    if ((engagement.opened >= opened && engagement.clicked >= clicked) || Date.now() > until) return last;
    progress(`${count(engagement.opened)} of ${count(opened)} readers have opened it`, engagement.opened / opened);
    await sleep(LOOK_EVERY_MS, undefined, { signal: stopped });
    last = (await api.get<{ data: Campaign }>(`/v1/campaigns/${campaign.id}`)).data;
  }
}

const PROGRESS = `subscription ($id: ID!) {
  campaignProgress(id: $id) {
    status recipientCount engagement { sent delivered opened clicked bounced complained } progress { planned claimed accepted failed suppressed unknown canceled }
  }
}`;

/** The same numbers, pushed as they change. */
function watch(api: Client, id: string, take: (campaign: Partial<Campaign>) => void): () => void {
  return api.subscribe<{ campaignProgress: Partial<Campaign> }>(PROGRESS, { id }, (data) =>
    take(data.campaignProgress),
  );
}

/** The number of events that a campaign with these counts records: its start and end, and one per outcome of a message. */
export function expectedEvents({ status, engagement, progress: { accepted, failed } }: Campaign): number {
  const { delivered, bounced, complained } = engagement;
  return accepted + failed + delivered + bounced + complained + (status === 'completed' ? 2 : 1);
}

function show(campaign: Campaign, receiver: Receiver): void {
  const { status, recipientCount, engagement, progress: done } = campaign;
  const closed = done.accepted + done.failed + done.suppressed + done.unknown + done.canceled;
  const parts = [
    `${count(done.accepted)} of ${count(recipientCount)} accepted`,
    `${count(engagement.delivered)} delivered`,
    some(receiver.events, 'event'),
    status,
  ];
  progress(parts.join(' · '), recipientCount === 0 ? 0 : closed / recipientCount);
}
