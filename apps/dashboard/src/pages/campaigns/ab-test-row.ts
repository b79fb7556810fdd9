import { graphql } from '../../generated/gql.ts';
import type { AbTestQuery } from '../../generated/graphql.ts';

export const AB_TEST = graphql(`
  query AbTest($id: ID!) {
    abTest(id: $id) {
      id
      status
      samplePercent
      metric
      durationHours
      leaderId
      winnerId
      chosenById
      chosenByName
      decision
      endsAt
      version
      updatedAt
      finalCampaign {
        id
        name
        status
        pauseReason
        recipientCount
      }
      variants {
        label
        campaign {
          id
          version
          name
          subject
          fromName
          status
          pauseReason
          recipientCount
          engagement {
            opened
            clicked
          }
          progress {
            accepted
          }
        }
      }
    }
  }
`);

/** A test with the name of its first variant. */
export type AbTestRow = AbTestQuery['abTest'] & { name: string };
