export { pauseUncertain } from './after-restore.ts';
export { resendUnknown, resolveUnknownRecipients, retryFailed } from './requeue.ts';
export {
  type Campaign,
  type CampaignFilter,
  type CampaignInput,
  createCampaign,
  deleteCampaign,
  getCampaign,
  listCampaigns,
  updateCampaign,
} from './campaigns.ts';
export { withFooter } from './content.ts';
export { preferences } from './preferences.ts';
export { type Preflight, preflight } from './preflight.ts';
export { watchCampaign } from './progress.ts';
export {
  acknowledgeCampaign,
  cancelCampaign,
  pauseCampaign,
  resumeCampaign,
  scheduleCampaign,
  sendCampaign,
  unscheduleCampaign,
} from './sending.ts';
export { sendTest, type TestSendInput } from './test-send.ts';
