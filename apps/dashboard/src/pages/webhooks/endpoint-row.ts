import { graphql } from '../../generated/gql.ts';
import type { EndpointQuery } from '../../generated/graphql.ts';

export const ENDPOINT = graphql(`
  query Endpoint($id: ID!) {
    webhookEndpoint(id: $id) {
      id
      url
      description
      events
      enabled
      disabledAt
      disabledReason
      failingSince
      previousSecretExpiresAt
      health {
        state
        acknowledged
        failed
        hours {
          at
          acknowledged
          failed
        }
      }
      recent {
        acknowledged
        retried
        failed
        queued
        more
        medianMs
        p95Ms
      }
    }
  }
`);

export type Endpoint = EndpointQuery['webhookEndpoint'];
