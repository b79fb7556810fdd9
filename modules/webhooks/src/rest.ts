import { accepted, created, deletes, found, gql, page, PAGE, PAGE_ARGS, type Route } from '@postroom/platform';

const tag = 'Webhooks';
const endpoint =
  'id url description events enabled disabledAt disabledReason disabledAutomatically failingSince createdAt updatedAt';
const delivery =
  'id endpointId eventId eventType state attemptCount nextAttemptAt replayOf workflowId workflowUrl createdAt closedAt';
const example = { url: 'https://example.com/webhooks', events: ['contact.created', 'email.bounced'] };

export const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/webhooks',
    needs: 'full',
    tag,
    summary: 'List webhook endpoints, newest first',
    document: gql`query (${PAGE_ARGS}) {
      webhookEndpoints(first: $limit, after: $cursor) { nodes { ${endpoint} } ${PAGE} }
    }`,
    reply: page('webhookEndpoints'),
  },
  {
    method: 'POST',
    path: '/v1/webhooks',
    needs: 'full',
    tag,
    summary: 'Register a webhook endpoint; its signing secret is returned only once',
    document: gql`mutation ($input: CreateWebhookEndpointInput!) {
      createWebhookEndpoint(input: $input) { secret endpoint { ${endpoint} } }
    }`,
    reply: created('createWebhookEndpoint.endpoint', { merged: { secret: 'createWebhookEndpoint.secret' } }),
    answersSecret: true,
    example: { ...example, description: 'Our CRM' },
  },
  {
    method: 'GET',
    path: '/v1/webhooks/{id}',
    needs: 'full',
    tag,
    summary: 'Retrieve a webhook endpoint',
    document: gql`query ($id: ID!) { webhookEndpoint(id: $id) { ${endpoint} } }`,
    reply: found('webhookEndpoint'),
  },
  {
    method: 'PATCH',
    path: '/v1/webhooks/{id}',
    needs: 'full',
    tag,
    summary: 'Update the URL, event types or description of an endpoint',
    document: gql`mutation ($id: ID!, $input: UpdateWebhookEndpointInput!) {
      updateWebhookEndpoint(id: $id, input: $input) { ${endpoint} }
    }`,
    reply: found('updateWebhookEndpoint'),
    example: { events: ['*'] },
  },
  {
    method: 'DELETE',
    path: '/v1/webhooks/{id}',
    needs: 'full',
    tag,
    summary: 'Delete a webhook endpoint and its deliveries',
    ...deletes('deleteWebhookEndpoint', 'webhookEndpointDelete'),
  },
  {
    method: 'POST',
    path: '/v1/webhooks/{id}/enable',
    needs: 'full',
    tag,
    summary: 'Enable an endpoint, unless it was disabled automatically',
    document: gql`mutation ($id: ID!, $backlog: WebhookBacklog) {
      enableWebhookEndpoint(id: $id, backlog: $backlog) { ${endpoint} }
    }`,
    reply: found('enableWebhookEndpoint'),
    example: { backlog: 'deliver' },
  },
  {
    method: 'POST',
    path: '/v1/webhooks/{id}/disable',
    needs: 'full',
    tag,
    summary: 'Disable an endpoint and keep its queued deliveries',
    document: gql`mutation ($id: ID!) { disableWebhookEndpoint(id: $id) { ${endpoint} } }`,
    reply: found('disableWebhookEndpoint'),
  },
  {
    method: 'POST',
    path: '/v1/webhooks/{id}/test',
    needs: 'full',
    tag,
    summary: 'Queue a webhook.test event for an endpoint',
    document: gql`
      mutation ($id: ID!) {
        sendTestWebhook(id: $id) {
          eventId
          deliveryId
        }
      }
    `,
    reply: accepted('sendTestWebhook'),
  },
  {
    method: 'POST',
    path: '/v1/webhooks/{id}/replay',
    needs: 'full',
    tag,
    summary: 'Replay the failed deliveries of an endpoint since a time',
    document: gql`
      mutation replayFailedWebhookDeliveries($id: ID!, $since: DateTime!) {
        webhookEndpointReplayFailed(id: $id, since: $since) {
          replayed
        }
      }
    `,
    reply: accepted({ replayed: 'webhookEndpointReplayFailed.replayed' }),
    example: { since: '2026-11-21T00:00:00Z' },
  },
  {
    method: 'GET',
    path: '/v1/webhooks/{id}/deliveries',
    needs: 'full',
    tag,
    summary: 'List the deliveries to an endpoint, newest first',
    document: gql`query ($id: ID!, ${PAGE_ARGS}, $state: DeliveryState, $eventType: String) {
      webhookDeliveries(endpointId: $id, first: $limit, after: $cursor, state: $state, eventType: $eventType) {
        nodes { ${delivery} } ${PAGE}
      }
    }`,
    reply: page('webhookDeliveries'),
  },
  {
    method: 'GET',
    path: '/v1/deliveries',
    needs: 'full',
    tag,
    summary: "List the project's deliveries, newest first",
    document: gql`query (${PAGE_ARGS}, $state: DeliveryState, $eventId: ID, $eventType: String) {
      webhookDeliveries(first: $limit, after: $cursor, state: $state, eventId: $eventId, eventType: $eventType) {
        nodes { ${delivery} } ${PAGE}
      }
    }`,
    reply: page('webhookDeliveries'),
    errors: ['not_found'],
  },
  {
    method: 'GET',
    path: '/v1/deliveries/{id}',
    needs: 'full',
    tag,
    summary: 'Retrieve a delivery with its event and every attempt',
    document: gql`query ($id: ID!) {
      webhookDelivery(id: $id) {
        ${delivery}
        event { id type created data }
        attempts { number startedAt durationMs status error response headers workflowId workflowUrl }
      }
    }`,
    reply: found('webhookDelivery'),
  },
  {
    method: 'POST',
    path: '/v1/deliveries/{id}/retry',
    needs: 'full',
    tag,
    summary: 'Make the next attempt of a delivery now instead of when it is due',
    document: gql`mutation retryWebhookDelivery($id: ID!) { webhookDeliveryRetry(id: $id) { delivery { ${delivery} } } }`,
    reply: accepted('webhookDeliveryRetry.delivery'),
  },
  {
    method: 'POST',
    path: '/v1/deliveries/{id}/give-up',
    needs: 'full',
    tag,
    summary: 'Make no further attempt of a delivery that is waiting for one',
    document: gql`mutation giveUpWebhookDelivery($id: ID!) { webhookDeliveryGiveUp(id: $id) { delivery { ${delivery} } } }`,
    reply: accepted('webhookDeliveryGiveUp.delivery'),
  },
  {
    method: 'POST',
    path: '/v1/deliveries/{id}/replay',
    needs: 'full',
    tag,
    summary: 'Replay an event as a new delivery',
    document: gql`mutation ($id: ID!) { replayWebhookDelivery(id: $id) { ${delivery} } }`,
    reply: accepted('replayWebhookDelivery'),
  },
];
