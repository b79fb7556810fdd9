import type { SuppressionReason } from '@postroom/contacts';

/** What exports of providers call our reasons, in lower case and without spaces, hyphens and underscores. */
const NAMES: Record<SuppressionReason, readonly string[]> = {
  // Mailchimp calls a list without its bounces cleaned.
  bounced: ['bounced', 'bounce', 'hardbounce', 'hardbounced', 'cleaned'],
  complained: ['complained', 'complaint', 'spam', 'spamcomplaint', 'spamreport', 'abuse'],
  manual: ['manual', 'manualsuppression', 'manuallyadded'],
  unsubscribed: ['unsubscribed', 'unsubscribe', 'unsub', 'optout', 'optedout'],
};

const REASON_BY_NAME: ReadonlyMap<string, SuppressionReason> = new Map(
  (Object.keys(NAMES) as SuppressionReason[]).flatMap((reason) => NAMES[reason].map((name) => [name, reason])),
);

/** The reason of a row, which other providers may name differently: `HardBounce` is `bounced`. Undefined if it is unknown. */
export const reasonNamed = (given: string): SuppressionReason | undefined =>
  REASON_BY_NAME.get(given.toLowerCase().replaceAll(/[\s_-]/g, ''));
