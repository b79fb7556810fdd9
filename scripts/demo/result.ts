import type { CampaignDetail } from '../../sdk/typescript/src/index.ts';
import { expectedEvents } from './campaign.ts';
import { type deliveryWorkflow, type InboxCount, workflowLink } from './check.ts';
import { bold, count, green, red, seconds, some, table } from './print.ts';
import type { Receiver } from './receiver.ts';
import type { System } from './system.ts';

/** Everything a run measured. */
export interface Result {
  system: System;
  campaign: CampaignDetail;
  receiver: Receiver;
  inbox: InboxCount;
  delivery: Awaited<ReturnType<typeof deliveryWorkflow>>;
  /** Rows of the file. */
  notImported: number;
  /** As `performance.now()`, like `lastEventAt`, which is `undefined` if an event is missing. */
  sentAt: number;
  lastEventAt: number | undefined;
  totalMs: number;
}

/** Messages still to be sent, such as deferred ones. */
const open = ({ progress }: CampaignDetail) => progress.planned + progress.claimed;

/** Losses and duplicates, in the inbox and at the receiver. */
function balance({ campaign, receiver, inbox }: Result) {
  const { suppressed, failed, canceled, unknown } = campaign.progress;
  const mailed = campaign.recipientCount - suppressed - failed - canceled - unknown - open(campaign);
  return {
    mailsLost: Math.max(0, mailed - inbox.recipients.size),
    mailsDoubled: inbox.duplicates,
    eventsLost: Math.max(0, expectedEvents(campaign) - receiver.events),
    eventsDoubled: receiver.tally.repeatedEvents + receiver.tally.repeatedAttempts,
  };
}

/** The campaign's duration by its own timestamps, in milliseconds. */
function sendingMs({ startedAt, completedAt }: CampaignDetail): number | undefined {
  return startedAt === null || completedAt === null ? undefined : Date.parse(completedAt) - Date.parse(startedAt);
}

export function resultTable(result: Result): string {
  const { campaign, receiver, notImported, sentAt, lastEventAt, totalMs } = result;
  const { accepted, failed, suppressed, unknown } = campaign.progress;
  const { mailsLost, mailsDoubled, eventsLost, eventsDoubled } = balance(result);
  const took = sendingMs(campaign);
  const optional = (name: string, value: number): [string, string][] => (value === 0 ? [] : [[name, count(value)]]);
  const figures = table([
    ['Recipients', count(campaign.recipientCount)],
    ['Accepted by the mail server', count(accepted)],
    ...optional('Rejected by the mail server', failed),
    ...optional('Suppressed', suppressed),
    ...optional('Outcome unknown', unknown),
    ...optional('Deferred', open(campaign)),
    ['Delivered', count(campaign.engagement.delivered)],
    ...optional('Opened', campaign.engagement.opened),
    ...optional('Clicked', campaign.engagement.clicked),
    ...optional('Bounced', campaign.engagement.bounced),
    ...optional('Complained', campaign.engagement.complained),
    undefined,
    ['Events received', count(receiver.events)],
    ['Signatures verified', `${count(receiver.tally.verified)} of ${count(receiver.tally.posts)}`],
    undefined,
    ['Duplicates (mails, events)', `${count(mailsDoubled)}, ${count(eventsDoubled)}`],
    ['Losses (mails, events)', `${count(mailsLost)}, ${count(eventsLost)}`],
    ['Rows not imported', count(notImported)],
    undefined,
    [
      'Sending',
      took === undefined
        ? 'not completed'
        : `${seconds(took)}, ${count(Math.round(accepted / (took / 1000)))} messages/s`,
    ],
    ['Until the last event', lastEventAt === undefined ? 'some never arrived' : seconds(lastEventAt - sentAt)],
    ['Total time', seconds(totalMs)],
  ]);
  return `${figures}\n\n${links(result)}`;
}

function links({ system, campaign, delivery }: Result): string {
  const lines = [`${'Inbox'.padEnd(20)}${system.inboxUrl}`];
  if (system.temporalUiUrl !== null) {
    lines.push(`${'Campaign workflow'.padEnd(20)}${workflowLink(system.temporalUiUrl, { workflowId: campaign.id })}`);
    if (delivery !== undefined)
      lines.push(`${'A webhook delivery'.padEnd(20)}${workflowLink(system.temporalUiUrl, delivery.execution)}`);
  }
  return lines.join('\n');
}

/** Summarizes losses and duplicates in a sentence. */
export function verdict(result: Result): { ok: boolean; text: string } {
  const { mailsLost, mailsDoubled, eventsLost, eventsDoubled } = balance(result);
  const wrong = [
    mailsLost > 0 && `${some(mailsLost, 'mail')} lost`,
    mailsDoubled > 0 && `${some(mailsDoubled, 'mail')} duplicated`,
    eventsLost > 0 && `${some(eventsLost, 'event')} not received`,
    eventsDoubled > 0 && `${some(eventsDoubled, 'event')} duplicated`,
    result.receiver.tally.refused > 0 && `${some(result.receiver.tally.refused, 'request')} with a bad signature`,
    result.campaign.progress.unknown > 0 && unknown(result.campaign.progress.unknown),
    result.campaign.status !== 'completed' && unfinished(result.campaign),
  ].filter((problem) => problem !== false);
  const ok = wrong.length === 0;
  return {
    ok,
    text: ok ? `${green('✓')} ${bold('Nothing lost, nothing duplicated.')}` : `${red('✗')} ${bold(wrong.join(', '))}`,
  };
}

/** Such a message may have been accepted, so it is not retried; a provider's report or a user decides. */
const unknown = (messages: number) =>
  `${some(messages, 'message')} may or may not have arrived: sending was killed mid-transaction`;

function unfinished(campaign: CampaignDetail): string {
  const waiting = open(campaign);
  return `the campaign is ${campaign.status}${waiting > 0 ? `: ${some(waiting, 'message')} to go` : ''}`;
}
