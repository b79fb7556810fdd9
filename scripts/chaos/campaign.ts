import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from '../../bench/child.ts';
import type { SinkStats } from '../../bench/smtp-sink.ts';
import type { CampaignDetail, Postroom } from '../../sdk/typescript/src/index.ts';
import { importContacts } from '../demo/import.ts';
import { progress } from '../demo/print.ts';
import { Drip } from './emails.ts';
import { type Check, counted, must } from './checks.ts';
import type { Kills, KillSchedule } from './kills.ts';
import { Receiver } from './receivers.ts';
import { nothingMoves, settled } from './settled.ts';
import type { System } from './system.ts';

/** Events of campaigns and mail, without those of which webhooks under the same kills are made (webhooks.ts). */
const OWN_EVENTS = [
  'campaign.started',
  'campaign.paused',
  'campaign.completed',
  'email.sent',
  'email.failed',
  'email.rejected',
  'email.bounced',
  'email.complained',
  'email.clicked',
] as const;
/** The worker's default connections to the sink. Together with the delay per mail they determine the rate. */
const CONNECTIONS = 10;
/** Components are down for a while after a kill, so sending takes longer than its rate implies. */
const SHARE_OF_KILLS = 0.7;

/** A campaign with webhooks and transactional mail: compares what arrived with the tables after the kills. */
export async function campaignUnderKills(
  system: System,
  postroom: Postroom,
  sink: Child,
  kills: KillSchedule,
  recipients: number,
): Promise<Check[]> {
  const receiver = await Receiver.start('healthy');
  try {
    const { id, endpointId } = await prepare(postroom, receiver, recipients);
    const sendingMs = SHARE_OF_KILLS * kills.count * kills.everyMs;
    sink.tell({ delayMs: Math.max(1, Math.round((sendingMs * CONNECTIONS) / recipients)) });
    await postroom.campaigns.send(id);
    const drip = new Drip(system);
    await until(async () => (await sink.ask<SinkStats>('stats')).mails > recipients / 100);
    await kills.begin();
    const killed = await kills.done;
    sink.tell({ delayMs: 0 });
    await drip.stop();
    const campaign = await untilEnded(postroom, id);
    await settled(system.pool, [endpointId], () => receiver.events.size);
    return await compare({ system, campaign, sink, receiver, endpointId, drip, killed, recipients });
  } finally {
    await receiver.stop();
  }
}

async function prepare(
  postroom: Postroom,
  receiver: Receiver,
  recipients: number,
): Promise<{ id: string; endpointId: string }> {
  const name = `Chaos ${randomBytes(3).toString('hex')}`;
  const addresses = Array.from({ length: recipients }, (_, index) => `reader${index}@readers.test`);
  const { groupId } = await importContacts(postroom, ['email', ...addresses].join('\n'), { group_name: name });
  const endpoint = await postroom.webhooks.create({ url: receiver.url, events: [...OWN_EVENTS] });
  const { id } = await postroom.campaigns.create({
    name,
    subject: 'News for {{name|you}}',
    from_email: 'hello@demo.postroom.example',
    html: '<p>Hello {{name|there}}, you are {{email}}.</p>',
    group_ids: [groupId],
  });
  return { id, endpointId: endpoint.id };
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(50);
}

/** The campaign once it has ended, or its current state when progress stops. */
async function untilEnded(postroom: Postroom, id: string): Promise<CampaignDetail> {
  const stuck = nothingMoves();
  for (;;) {
    const campaign = await postroom.campaigns.get(id);
    const { status, recipientCount, progress: counts } = campaign;
    progress(`${counts.accepted} of ${recipientCount} accepted`, counts.accepted / recipientCount);
    if (status !== 'sending' || stuck(JSON.stringify(counts))) return campaign;
    await sleep(500);
  }
}

interface Facts {
  system: System;
  campaign: CampaignDetail;
  sink: Child;
  receiver: Receiver;
  endpointId: string;
  drip: Drip;
  killed: Kills;
  recipients: number;
}

async function compare(facts: Facts): Promise<Check[]> {
  const { system, campaign, sink, receiver, endpointId, drip, killed, recipients } = facts;
  const got = new Map(await sink.ask<[string, number][]>('counts'));
  const { rows } = await system.pool.query<{ email: string; state: string; campaign_id: string | null }>(
    'SELECT email, state::text, campaign_id FROM messages',
  );
  const ours = rows.filter((row) => row.campaign_id === campaign.id);
  const inState = (state: string) => ours.filter((row) => row.state === state).length;
  const listed = new Map(rows.map((row) => [row.email, row.state]));
  const open = rows.filter(({ state }) => state === 'planned' || state === 'claimed').length;
  const unheard = ours.filter(({ email, state }) => !got.has(email) && !['failed', 'unknown'].includes(state)).length;
  const accepted = drip.sent.filter(({ isAccepted }) => isAccepted);
  const unheardReceipts = accepted.filter(
    ({ address }) => !got.has(address) && listed.get(address) !== 'unknown',
  ).length;
  const unknown = rows.filter(({ state }) => state === 'unknown');
  const arrived = unknown.filter(({ email }) => got.has(email)).length;
  const { rows: events } = await system.pool.query<{ id: string }>(
    'SELECT event_id AS id FROM deliveries WHERE endpoint_id = $1',
    [endpointId],
  );
  const disagreeing = (
    ['accepted', 'failed', 'suppressed', 'unknown', 'canceled', 'planned', 'claimed'] as const
  ).filter((state) => campaign.progress[state] !== inState(state));
  const { byPart, inFlight } = killed;
  const kills = Object.values(byPart).reduce((sum, times) => sum + times, 0);
  return [
    must('Recipients', ours.length, (value) => value === recipients),
    must('Campaign', campaign.status, (value) => value === 'completed'),
    counted('Accepted', inState('accepted')),
    must('Unknown, of those claimed at the kills', [unknown.length, inFlight.messages], ([a = 0, b = 0]) => a <= b),
    must('At most, with two on each connection', 2 * CONNECTIONS * kills, (most) => unknown.length <= most),
    counted('Of the unknown, arrived', arrived),
    must('Duplicates at the mail server', [...got.values()].filter((times) => times > 1).length, isNone),
    must('Neither received nor listed as failed or unknown', unheard, isNone),
    must('Messages left open', open, isNone),
    must('Counters that disagree with the rows', disagreeing.join(', ') || 0, isNone),
    undefined,
    must(
      'Transactional emails, of them answered with 202',
      [drip.sent.length, accepted.length],
      ([all = 0, some]) => all > 0 && all === some,
    ),
    must('Neither received nor listed as unknown', unheardReceipts, isNone),
    undefined,
    must('Events', events.length, (value) => value > recipients * 0.9),
    must('Events not received', events.filter(({ id }) => !receiver.events.has(id)).length, isNone),
    must(
      'Events received again, of those in flight at the kills',
      [receiver.duplicates, inFlight.deliveries],
      ([a = 0, b = 0]) => a <= b,
    ),
  ];
}

const isNone = (value: unknown) => value === 0;
