import type { Prisma } from '@postroom/platform';

/** Where an email is, in the words of `/v1`: the state of its row, and what has been heard of it since. */
export const EMAIL_STATUSES = {
  queued: 'It goes out as soon as the mail server takes it.',
  scheduled: 'It goes out at its time.',
  sent: 'The provider accepted it. Whether it was delivered is not known yet, or never where nobody reports it.',
  delivered: "The recipient's server accepted it.",
  bounced: 'It bounced.',
  complained: 'The recipient marked it as spam.',
  failed: 'A server or the provider refused it for good.',
  suppressed: 'The address is not to be mailed.',
  canceled: 'It was stopped before it went out.',
  unknown: 'The connection broke when it may have been accepted. It is not sent again by itself.',
} as const;

export type EmailStatus = keyof typeof EMAIL_STATUSES;

type Facts = Pick<
  Prisma.MessageModel,
  | 'state'
  | 'dispatchedAt'
  | 'notBefore'
  | 'deferredAt'
  | 'campaignId'
  | 'deliveredAt'
  | 'bouncedAt'
  | 'complainedAt'
  | 'rejectedAt'
>;

/** The status of a row of the ledger. */
export function statusOf(message: Facts, now = new Date()): EmailStatus {
  switch (message.state) {
    case 'planned':
      return isScheduled(message, now) ? 'scheduled' : 'queued';
    case 'claimed':
      return 'queued';
    case 'accepted':
      if (message.complainedAt !== null) return 'complained';
      if (message.bouncedAt !== null) return 'bounced';
      if (message.rejectedAt !== null) return 'failed';
      return message.deliveredAt === null ? 'sent' : 'delivered';
    default:
      return message.state;
  }
}

/** What a server put off waits as well, but its time had come. */
const isScheduled = ({ campaignId, dispatchedAt, deferredAt, notBefore }: Facts, now: Date) =>
  campaignId === null && dispatchedAt === null && deferredAt === null && notBefore !== null && notBefore > now;

const SCHEDULED =
  'm.campaign_id IS NULL AND m.dispatched_at IS NULL AND m.deferred_at IS NULL AND m.not_before > now()';
const ACCEPTED = "m.state = 'accepted'";

/** The same in SQL, for the row `m`. */
export const STATUS_CONDITIONS: Record<EmailStatus, string> = {
  queued: `(m.state = 'claimed' OR m.state = 'planned' AND (${SCHEDULED}) IS NOT TRUE)`,
  scheduled: `m.state = 'planned' AND ${SCHEDULED}`,
  sent: `${ACCEPTED} AND coalesce(m.delivered_at, m.bounced_at, m.complained_at, m.rejected_at) IS NULL`,
  delivered: `${ACCEPTED} AND m.delivered_at IS NOT NULL AND coalesce(m.bounced_at, m.complained_at, m.rejected_at) IS NULL`,
  bounced: `${ACCEPTED} AND m.bounced_at IS NOT NULL AND m.complained_at IS NULL`,
  complained: `${ACCEPTED} AND m.complained_at IS NOT NULL`,
  failed: `(m.state = 'failed' OR ${ACCEPTED} AND m.rejected_at IS NOT NULL AND coalesce(m.bounced_at, m.complained_at) IS NULL)`,
  suppressed: "m.state = 'suppressed'",
  canceled: "m.state = 'canceled'",
  unknown: "m.state = 'unknown'",
};
