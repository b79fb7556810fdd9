import type { EmailStatus } from '../../generated/graphql.ts';
import { StatusBadge, type Tone } from '../../components/badge.tsx';

/** Status labels and descriptions. */
export const STATUS_LABELS: Record<EmailStatus, [tone: Tone, label: string, meaning: string]> = {
  queued: ['busy', 'Queued', 'It will be sent as soon as the mail server accepts it.'],
  scheduled: ['busy', 'Scheduled', 'It will be sent at the scheduled time.'],
  sent: ['good', 'Sent', 'The provider accepted it. Delivery is not confirmed yet.'],
  delivered: ['good', 'Delivered', 'The recipient’s server accepted it.'],
  bounced: ['bad', 'Bounced', 'It bounced.'],
  complained: ['bad', 'Complained', 'The recipient marked it as spam.'],
  failed: ['bad', 'Failed', 'The provider or the recipient’s server rejected it permanently.'],
  suppressed: ['quiet', 'Suppressed', 'The address is suppressed, so it was not sent.'],
  canceled: ['quiet', 'Canceled', 'It was canceled before it was sent.'],
  unknown: [
    'warn',
    'Unknown',
    'The connection dropped when the server may already have accepted it. It is not retried automatically.',
  ],
};

export function EmailState({ status }: { status: EmailStatus }) {
  const [tone, label] = STATUS_LABELS[status];
  return <StatusBadge tone={tone}>{label}</StatusBadge>;
}
