import type { List } from './list.ts';
import { type Body, type DataOf, type Query, Resource } from './resource.ts';
import type { RequestOptions } from './transport.ts';
import type { WebhookDelivery, WebhookDeliveryDetail, WebhookEndpoint } from './types.ts';

export class Webhooks extends Resource {
  list(query: Query<'listWebhookEndpoints'> = {}, options?: RequestOptions): List<WebhookEndpoint> {
    return this.listOf('listWebhookEndpoints', { query }, options);
  }

  /** Registers an endpoint. Store `secret`: it is shown only once, and `verifyWebhook` needs it. */
  create(body: Body<'createWebhookEndpoint'>, options?: RequestOptions): Promise<DataOf<'createWebhookEndpoint'>> {
    return this.data('createWebhookEndpoint', { body }, options);
  }

  get(id: string, options?: RequestOptions): Promise<WebhookEndpoint> {
    return this.data('getWebhookEndpoint', { path: { id } }, options);
  }

  update(id: string, body: Body<'updateWebhookEndpoint'>, options?: RequestOptions): Promise<WebhookEndpoint> {
    return this.data('updateWebhookEndpoint', { path: { id }, body }, options);
  }

  delete(id: string, options?: RequestOptions): Promise<void> {
    return this.done('deleteWebhookEndpoint', { path: { id } }, options);
  }

  /** Resumes deliveries to an endpoint. One that was disabled automatically can only be enabled in the dashboard. */
  enable(id: string, body: Body<'enableWebhookEndpoint'> = {}, options?: RequestOptions): Promise<WebhookEndpoint> {
    return this.data('enableWebhookEndpoint', { path: { id }, body }, options);
  }

  /** Pauses deliveries to an endpoint; pending ones are kept. */
  disable(id: string, options?: RequestOptions): Promise<WebhookEndpoint> {
    return this.data('disableWebhookEndpoint', { path: { id } }, options);
  }

  /** Queues a `webhook.test` event for an endpoint. */
  test(id: string, options?: RequestOptions): Promise<DataOf<'sendTestWebhook'>> {
    return this.data('sendTestWebhook', { path: { id } }, options);
  }

  /** The deliveries to an endpoint, newest first. */
  deliveries(id: string, query: Query<'listWebhookDeliveries'> = {}, options?: RequestOptions): List<WebhookDelivery> {
    return this.listOf('listWebhookDeliveries', { path: { id }, query }, options);
  }

  /** Redelivers what failed at an endpoint since a time; returns the count. */
  replayFailed(
    id: string,
    body: Body<'replayFailedWebhookDeliveries'>,
    options?: RequestOptions,
  ): Promise<DataOf<'replayFailedWebhookDeliveries'>> {
    return this.data('replayFailedWebhookDeliveries', { path: { id }, body }, options);
  }
}

export class Deliveries extends Resource {
  /** The project's deliveries to all endpoints, newest first. */
  list(query: Query<'listDeliveries'> = {}, options?: RequestOptions): List<WebhookDelivery> {
    return this.listOf('listDeliveries', { query }, options);
  }

  /** A delivery with its event and every attempt. */
  get(id: string, options?: RequestOptions): Promise<WebhookDeliveryDetail> {
    return this.data('getWebhookDelivery', { path: { id } }, options);
  }

  /** Makes the next attempt of a delivery now instead of on schedule. */
  retry(id: string, options?: RequestOptions): Promise<WebhookDelivery> {
    return this.data('retryWebhookDelivery', { path: { id } }, options);
  }

  /** Makes no further attempt of a delivery that is waiting for one; it fails within seconds. */
  giveUp(id: string, options?: RequestOptions): Promise<WebhookDelivery> {
    return this.data('giveUpWebhookDelivery', { path: { id } }, options);
  }

  /** Redelivers an event, as a new delivery. */
  replay(id: string, options?: RequestOptions): Promise<WebhookDelivery> {
    return this.data('replayWebhookDelivery', { path: { id } }, options);
  }
}
