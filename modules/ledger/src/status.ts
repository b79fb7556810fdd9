import { databaseTime } from '@postroom/clock';
import type { Prisma } from '@postroom/platform';

/** Email statuses in `/v1`, derived from the ledger state and later reports. The texts are shown in the API reference. */
export const EMAIL_STATUSES = {
  queued: 'Waiting to be sent, or being sent.',
  scheduled: 'Will be sent at its scheduled time.',
  sent: 'Accepted by the provider. Delivery has not been reported, and some servers never report it.',
  delivered: "Accepted by the recipient's server.",
  bounced: 'Bounced.',
  complained: 'Marked as spam by the recipient.',
  failed: 'Permanently rejected by a server or the provider.',
  suppressed: 'Not sent, because the address is suppressed.',
  canceled: 'Canceled before it was sent.',
  unknown: 'The connection broke after the server may have accepted it. It is not retried automatically.',
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

/** The status of a ledger row. */
export function statusOf(message: Facts, now = databaseTime()): EmailStatus {
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

/** A deferred message also has a `notBefore`, but it was already due. */
const isScheduled = ({ campaignId, dispatchedAt, deferredAt, notBefore }: Facts, now: Date) =>
  campaignId === null && dispatchedAt === null && deferredAt === null && notBefore !== null && notBefore > now;

const SCHEDULED =
  'm.campaign_id IS NULL AND m.dispatched_at IS NULL AND m.deferred_at IS NULL AND m.not_before > now()';
const ACCEPTED = "m.state = 'accepted'";

/** `statusOf` as SQL conditions on the row `m`. */
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
