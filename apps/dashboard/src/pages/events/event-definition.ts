import { graphql } from '../../generated/gql.ts';
import type { EventDefinitionQuery } from '../../generated/graphql.ts';

export const EVENT_DEFINITION = graphql(`
  query EventDefinition($id: ID!) {
    customEventDefinition(id: $id) {
      id
      name
      description
      locked
      eventCount
      days {
        day
        eventCount
      }
      properties {
        name
        types
        type
        hasConflict
        description
        defaultValue
        example
        lastSeenAt
      }
    }
  }
`);

export type Definition = EventDefinitionQuery['customEventDefinition'];

export const UPDATE = graphql(`
  mutation UpdateEventDefinition($id: ID!, $input: UpdateCustomEventDefinitionInput!) {
    updateCustomEventDefinition(id: $id, input: $input) {
      id
    }
  }
`);
