import { setTimeout as sleep } from 'node:timers/promises';
import type { CampaignDetail, CustomField, Postroom } from '../../sdk/typescript/src/index.ts';
import { count, progress, some } from './print.ts';
import type { Receiver } from './receiver.ts';

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
] as const;

/** Custom fields that the mail shows; more would make a dull email. */
const SHOWN_FIELDS = 4;

/** A published template that greets contacts by name and shows their fields; missing values have a default. */
export async function makeTemplate(
  postroom: Postroom,
  name: string,
  fields: readonly CustomField[],
): Promise<{ id: string }> {
  const body = templateBody(fields.slice(0, SHOWN_FIELDS));
  const template = await postroom.templates.create({ name, body });
  return postroom.templates.publish(template.id);
}

function templateBody(fields: readonly CustomField[]): string {
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
export async function makeEndpoint(postroom: Postroom, receiver: Receiver): Promise<{ id: string }> {
  const endpoint = await postroom.webhooks.create({
    url: receiver.url,
    events: [...EVENTS],
    description: 'The receiver of npm run demo',
  });
  receiver.secret = endpoint.secret;
  return endpoint;
}

export interface Letter {
  name: string;
  subject: string;
  fromEmail: string;
  templateId: string;
  groupId: string;
}

/** A campaign that is ready to send. */
export const makeCampaign = (
  postroom: Postroom,
  { name, subject, fromEmail, templateId, groupId }: Letter,
): Promise<CampaignDetail> =>
  postroom.campaigns.create({
    name,
    subject,
    from_name: 'Postroom demo',
    from_email: fromEmail,
    template_id: templateId,
    group_ids: [groupId],
  });

/** How long the demo waits without any progress. */
const STALL_TIMEOUT_MS = 90_000;
const LOOK_EVERY_MS = 1_000;
const ENDED = new Set(['completed', 'canceled', 'paused']);

export interface Outcome {
  campaign: CampaignDetail;
  /** Arrival of the last event as `performance.now()`; `undefined` if some are missing. */
  lastEventAt: number | undefined;
}

/** Sends the campaign and shows its progress until it has ended and every event has arrived, or progress stops. */
export async function sendAndWatch(
  postroom: Postroom,
  id: string,
  receiver: Receiver,
  stopped: AbortSignal,
): Promise<Outcome> {
  await postroom.campaigns.send(id);
  let moved = { at: Date.now(), what: '' };
  for (;;) {
    const campaign = await postroom.campaigns.get(id);
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
}

/** How many addresses in a file open their mail and click a link: simulated readers of the development inbox. */
export function readersIn(text: string): { opened: number; clicked: number } {
  const named = (act: string) =>
    new Set(text.toLowerCase().match(new RegExp(`\\b${act}(\\+[^@\\s]*)?@simulator\\.invalid\\b`, 'g'))).size;
  return { opened: named('opened') + named('clicked'), clicked: named('clicked') };
}

/** How long the demo waits for readers, who open mail after eight seconds and are classified some seconds later. */
const READING_MS = 40_000;

/** The campaign once all expected readers have read it, or their time is up. */
export async function untilRead(
  postroom: Postroom,
  campaign: CampaignDetail,
  { opened, clicked }: { opened: number; clicked: number },
  stopped: AbortSignal,
): Promise<CampaignDetail> {
  const until = Date.now() + READING_MS;
  for (let last = campaign; ;) {
    const { engagement } = last;
    if ((engagement.opened >= opened && engagement.clicked >= clicked) || Date.now() > until) return last;
    progress(`${count(engagement.opened)} of ${count(opened)} readers have opened it`, engagement.opened / opened);
    await sleep(LOOK_EVERY_MS, undefined, { signal: stopped });
    last = await postroom.campaigns.get(campaign.id);
  }
}

/** The number of events that a campaign with these counts records: its start and end, and one per outcome of a message. */
export function expectedEvents({ status, engagement, progress: { accepted, failed } }: CampaignDetail): number {
  const { delivered, bounced, complained } = engagement;
  return accepted + failed + delivered + bounced + complained + (status === 'completed' ? 2 : 1);
}

function show(campaign: CampaignDetail, receiver: Receiver): void {
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
