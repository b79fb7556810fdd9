import { graphql } from '../../generated/gql.ts';
import type { MailProvidersQuery } from '../../generated/graphql.ts';

export const PROVIDERS = graphql(`
  query MailProviders {
    mailProviders {
      id
      name
      kind
      domain
      position
      host
      port
      tls
      username
      connections
      messagesPerConnection
      ratePerSecond
      accessKeyId
      endpoint
      region
      configurationSet
      topicArn
      notificationUrl
      subscribedAt
      notifiedAt
      status
      statusReason
      checkedAt
    }
  }
`);

export type Provider = MailProvidersQuery['mailProviders'][number];
