export { deliverBatch } from './deliver-batch.ts';
export { deliverWebhook } from './deliver-webhook.ts';
export { verifyDomain } from './verify-domain.ts';
