import { deletes, found, gql, page, PAGE, PAGE_ARGS, restPath, type Route } from '@postroom/platform';

const tag = 'Custom events';

const EVENT = 'id name contactId properties occurredAt receivedAt';
const DEFINITION = `id name description locked eventCount firstSeenAt lastSeenAt
  properties { name types type hasConflict description defaultValue example firstSeenAt lastSeenAt }`;

/** A thousand events of four kilobytes. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

export const routes: Route[] = [
  {
    method: 'POST',
    path: '/v1/events',
    needs: 'full',
    tag,
    summary: 'Track one event of a contact, or up to 1,000, each with its own result',
    document: gql`
      mutation ($input: TrackEventsInput!) {
        trackEvents(input: $input) {
          accepted
          duplicates
          errors
          results {
            index
            status
            id: eventId
            error {
              field
              message
            }
          }
        }
      }
    `,
    // `/v1` requests use snake_case, so the field names in the results do too.
    reply: found('trackEvents', { problems: { 'results.error': restPath } }),
    maxBodyBytes: MAX_BODY_BYTES,
    example: {
      name: 'order placed',
      email: 'ada@example.com',
      id: 'order-A-1007',
      properties: { order: 'A-1007', total: 49.9 },
      create_contact: true,
    },
  },
  {
    method: 'GET',
    path: '/v1/events',
    needs: 'full',
    tag,
    summary: 'List events, latest first',
    document: gql`query (${PAGE_ARGS}, $contactId: ID, $name: String, $from: DateTime, $to: DateTime) {
      customEvents(first: $limit, after: $cursor, contactId: $contactId, name: $name, from: $from, to: $to) {
        nodes { ${EVENT} }
        ${PAGE}
      }
    }`,
    reply: page('customEvents'),
    errors: ['not_found'],
  },
  {
    method: 'GET',
    path: '/v1/event-definitions',
    needs: 'full',
    tag,
    summary: 'List the names of events and their properties, newest name first',
    document: gql`query (${PAGE_ARGS}) {
      customEventDefinitions(first: $limit, after: $cursor) {
        nodes { ${DEFINITION} }
        ${PAGE}
      }
    }`,
    reply: page('customEventDefinitions'),
  },
  {
    method: 'GET',
    path: '/v1/event-definitions/{id}',
    needs: 'full',
    tag,
    summary: 'Retrieve the definition of an event name',
    document: gql`query ($id: ID!) { customEventDefinition(id: $id) { ${DEFINITION} } }`,
    reply: found('customEventDefinition'),
  },
  {
    method: 'PATCH',
    path: '/v1/event-definitions/{id}',
    needs: 'full',
    tag,
    summary: 'Describe an event name and its properties, or lock its schema',
    document: gql`mutation ($id: ID!, $input: UpdateCustomEventDefinitionInput!) {
      updateCustomEventDefinition(id: $id, input: $input) { ${DEFINITION} }
    }`,
    reply: found('updateCustomEventDefinition'),
    example: {
      description: 'A customer paid.',
      properties: [{ name: 'total', description: 'In euros.', type: 'number', default_value: 0 }],
    },
  },
  {
    method: 'DELETE',
    path: '/v1/event-definitions/{id}',
    needs: 'full',
    tag,
    summary: 'Remove an event name from the schema; its events stay',
    ...deletes('deleteCustomEventDefinition', 'deleteCustomEventDefinition'),
  },
];
