import { graphql } from '../../generated/gql.ts';
import type { DeliveryQuery } from '../../generated/graphql.ts';

export const DELIVERY = graphql(`
  query Delivery($id: ID!) {
    webhookDelivery(id: $id) {
      id
      eventId
      eventType
      state
      attemptCount
      nextAttemptAt
      replayOf
      createdAt
      closedAt
      body
      workflowId
      workflowUrl
      endpoint {
        url
      }
      attempts {
        number
        startedAt
        durationMs
        status
        error
        response
        headers
        workflowId
        workflowUrl
      }
    }
  }
`);

export type Delivery = DeliveryQuery['webhookDelivery'];
