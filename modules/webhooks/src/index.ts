export { getDelivery, listDeliveries, replayDelivery, replayFailed, sendTestEvent } from './deliveries.ts';
export {
  createEndpoint,
  type CreateEndpointInput,
  deleteEndpoint,
  disableEndpoint,
  enableEndpoint,
  getEndpoint,
  listEndpoints,
  revealSecret,
  rotateSecret,
  updateEndpoint,
} from './endpoints.ts';
export { renderBody, requestHeaders } from './payload.ts';
export { ATTEMPT } from './policy.ts';
export { describeResponse, isAcknowledged, retryDelayMs } from './schedule.ts';
