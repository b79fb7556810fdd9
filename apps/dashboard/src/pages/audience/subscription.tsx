import type { SuppressionStatus } from '../../generated/graphql.ts';
import { StatusBadge, type Tone } from '../../components/badge.tsx';

/** Suppression reason labels. */
export type Reason = Exclude<SuppressionStatus, 'none'>;

const WORDS: Record<SuppressionStatus, [tone: Tone, word: string]> = {
  none: ['good', 'Subscribed'],
  unsubscribed: ['quiet', 'Unsubscribed'],
  bounced: ['bad', 'Bounced'],
  complained: ['bad', 'Complained'],
  manual: ['warn', 'Suppressed'],
};

/** A badge with the subscription status. */
export function Subscription({ status }: { status: SuppressionStatus }) {
  const [tone, word] = WORDS[status];
  return <StatusBadge tone={tone}>{word}</StatusBadge>;
}

/** Suppression reasons as sentences. */
export const REASONS: Record<Reason, string> = {
  unsubscribed: 'They unsubscribed.',
  bounced: 'Email to this address bounced permanently.',
  complained: 'They marked an email as spam.',
  manual: 'The address was added manually.',
};
