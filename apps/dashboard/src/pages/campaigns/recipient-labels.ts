import type { BounceClass, RecipientOutcome } from '../../generated/graphql.ts';

/** Outcomes of a message, in the order of the filter. */
export const OUTCOME_WORDS: Record<RecipientOutcome, { word: string; meaning: string }> = {
  delivered: { word: 'Delivered', meaning: 'Messages that the recipient’s server accepted.' },
  opened: { word: 'Opened', meaning: 'People who opened it. Opens by bots are listed separately.' },
  opened_by_machines: {
    word: 'Opened by bots',
    meaning: 'A bot, such as a privacy proxy, fetched the images. The person may have opened it too.',
  },
  clicked: { word: 'Clicked', meaning: 'People who clicked a link. Clicks by bots are listed separately.' },
  clicked_by_machines: {
    word: 'Clicked by bots',
    meaning: 'A bot, such as a security scanner, followed a link. The person may have clicked too.',
  },
  bounced: { word: 'Bounced', meaning: 'Messages that a server accepted and that came back later.' },
  complained: { word: 'Complained', meaning: 'People who marked it as spam.' },
  unsubscribed: { word: 'Unsubscribed', meaning: 'People who unsubscribed through this email.' },
  deferred: { word: 'Deferred', meaning: 'A server asked to try again later. They are retried automatically.' },
};

export const BOUNCE_WORDS: Record<BounceClass, { word: string; meaning: string }> = {
  hard: { word: 'No such address', meaning: 'The address does not exist. It is suppressed.' },
  soft: { word: 'Temporary', meaning: 'For example, the mailbox is full.' },
  policy: { word: 'Reputation or DNS', meaning: 'The server refused the sender.' },
  content: { word: 'Content', meaning: 'The server refused the content.' },
  other: { word: 'Other', meaning: 'For another reason.' },
};
