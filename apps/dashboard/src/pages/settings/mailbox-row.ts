import { graphql } from '../../generated/gql.ts';
import type { MailboxAccountsQuery } from '../../generated/graphql.ts';

export const MAILBOXES = graphql(`
  query MailboxAccounts {
    mailboxAccounts {
      id
      email
      provider
      signIn
      host
      port
      username
      status
      statusReason
      checkedAt
      perMinute
      dailyCap
      sentToday
    }
  }
`);

export type Mailbox = MailboxAccountsQuery['mailboxAccounts'][number];
