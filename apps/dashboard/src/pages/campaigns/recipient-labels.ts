import type { BounceClass, RecipientOutcome } from '../../generated/graphql.ts';

/** Outcomes of a message, in the order of the filter. */
export const OUTCOME_LABELS: Record<RecipientOutcome, { label: string; meaning: string }> = {
  delivered: { label: 'Delivered', meaning: 'Messages that the recipient’s server accepted.' },
  opened: { label: 'Opened', meaning: 'People who opened it. Opens by bots are listed separately.' },
  opened_by_machines: {
    label: 'Opened by bots',
    meaning: 'A bot, such as a privacy proxy, fetched the images. The person may have opened it too.',
  },
  clicked: { label: 'Clicked', meaning: 'People who clicked a link. Clicks by bots are listed separately.' },
  clicked_by_machines: {
    label: 'Clicked by bots',
    meaning: 'A bot, such as a security scanner, followed a link. The person may have clicked too.',
  },
  bounced: { label: 'Bounced', meaning: 'Messages that a server accepted and that came back later.' },
  rejected: { label: 'Rejected', meaning: 'Messages that the provider refused to send after accepting them.' },
  complained: { label: 'Complained', meaning: 'People who marked it as spam.' },
  unsubscribed: { label: 'Unsubscribed', meaning: 'People who unsubscribed through this email.' },
  deferred: { label: 'Deferred', meaning: 'A server asked to try again later. They are retried automatically.' },
};

export const BOUNCE_LABELS: Record<BounceClass, { label: string; meaning: string }> = {
  hard: { label: 'No such address', meaning: 'The address does not exist. It is suppressed.' },
  soft: { label: 'Temporary', meaning: 'For example, the mailbox is full.' },
  policy: { label: 'Reputation or DNS', meaning: 'The server refused the sender.' },
  content: { label: 'Content', meaning: 'The server refused the content.' },
  other: { label: 'Other', meaning: 'For another reason.' },
};
