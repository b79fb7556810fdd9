export { deliverBatch } from './deliver-batch.ts';
export { deliverWebhook } from './deliver-webhook.ts';
