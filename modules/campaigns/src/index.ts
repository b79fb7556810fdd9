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
export {
  type Addressee,
  type CampaignContent,
  type CampaignTracking,
  compileCampaign,
  compileWebVersion,
  contentOf,
  templatesOf,
  withFooter,
} from './content.ts';
export { preferences } from './preferences.ts';
export { watchCampaign } from './progress.ts';
export {
  acknowledgeCampaign,
  cancelCampaign,
  checkReady,
  missingParts,
  pauseCampaign,
  resumeCampaign,
  scheduleCampaign,
  sendCampaign,
  senderProblemFor,
  statusProblem,
  unscheduleCampaign,
} from './sending.ts';
export { type Share, WHOLE_AUDIENCE } from './share.ts';
export {
  assignToTest,
  cancelVariants,
  copyVariant,
  deleteVariants,
  findCampaigns,
  findProgress,
  type ReadyVariant,
  releaseFromTest,
  renameVariants,
  sendToRest,
  startVariant,
} from './variants.ts';
