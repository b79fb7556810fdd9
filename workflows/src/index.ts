export { deleteOld } from './delete-old.ts';
export { deliverBatch } from './deliver-batch.ts';
export { deliverWebhook } from './deliver-webhook.ts';
export { verifyDomain } from './verify-domain.ts';
export { scheduleCampaign } from './schedule-campaign.ts';
export { sendCampaign } from './send-campaign.ts';
export { sendEmails } from './send-emails.ts';
