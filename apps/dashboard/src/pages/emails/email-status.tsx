import type { EmailStatus } from '../../generated/graphql.ts';
import { State, type Tone } from '../../components/badge.tsx';

/** What each status is called, and what it means. */
export const STATUS_WORDS: Record<EmailStatus, [tone: Tone, word: string, meaning: string]> = {
  queued: ['busy', 'Queued', 'It goes out as soon as the mail server takes it.'],
  scheduled: ['busy', 'Scheduled', 'It goes out at its time.'],
  sent: ['good', 'Sent', 'The provider accepted it; the recipient’s server has not been heard of yet.'],
  delivered: ['good', 'Delivered', 'The recipient’s server accepted it.'],
  bounced: ['bad', 'Bounced', 'It came back.'],
  complained: ['bad', 'Complained', 'The recipient marked it as spam.'],
  failed: ['bad', 'Failed', 'A server or the provider refused it for good.'],
  suppressed: ['quiet', 'Suppressed', 'The address is not to be mailed, so it was not sent.'],
  canceled: ['quiet', 'Canceled', 'It was stopped before it went out.'],
  unknown: [
    'warn',
    'Not known',
    'The connection broke when it may have been accepted. It is not sent again by itself.',
  ],
};

export function EmailState({ status }: { status: EmailStatus }) {
  const [tone, word] = STATUS_WORDS[status];
  return <State tone={tone}>{word}</State>;
}
