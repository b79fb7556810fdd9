import type { SuppressionOrigin, SuppressionStatus } from '../../generated/graphql.ts';
import { StatusBadge, type Tone } from '../../components/badge.tsx';

/** Suppression reason labels. */
export type Reason = Exclude<SuppressionStatus, 'none'>;

const LABELS: Record<SuppressionStatus, [tone: Tone, label: string]> = {
  none: ['good', 'Subscribed'],
  unsubscribed: ['quiet', 'Unsubscribed'],
  bounced: ['bad', 'Bounced'],
  complained: ['bad', 'Complained'],
  manual: ['warn', 'Suppressed'],
};

/** The reasons as words. */
export const REASON_LABELS: Record<Reason, string> = {
  unsubscribed: 'Unsubscribed',
  bounced: 'Bounced',
  complained: 'Complained',
  manual: 'Manual',
};

/** A badge with the subscription status. */
export function Subscription({ status }: { status: SuppressionStatus }) {
  const [tone, label] = LABELS[status];
  return <StatusBadge tone={tone}>{label}</StatusBadge>;
}

/** The reasons, as what someone did who entered the suppression. */
export const ENTERED: Record<Reason, string> = {
  unsubscribed: 'Unsubscribed',
  bounced: 'Entered as bounced',
  complained: 'Entered as a complaint',
  manual: 'Suppressed',
};

/** Why an address is suppressed, and who caused it, as a sentence. `by` is the user or key that did. */
export function explainReason(reason: Reason, origin: SuppressionOrigin | null, by: string | null | undefined): string {
  const name = by == null ? '' : ` by ${by}`;
  if (origin === 'user') return `${ENTERED[reason]}${name === '' ? ' in the dashboard' : name}.`;
  if (origin === 'api') return `${ENTERED[reason]} through the API${name === '' ? '' : ` with the key “${by}”`}.`;
  if (origin === 'import') return `${ENTERED[reason]} with an imported list.`;
  if (reason === 'unsubscribed') return origin === 'recipient' ? 'They unsubscribed.' : 'Unsubscribed.';
  if (reason === 'bounced') return 'Email to this address bounced permanently.';
  return reason === 'complained' ? 'They marked an email as spam.' : 'The address was added manually.';
}
