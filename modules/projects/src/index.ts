export { actorName, EDITED_BY } from './actors.ts';
export {
  createApiKey,
  endAccessOfKeysBy,
  generateKey,
  hashKey,
  isWellFormedKey,
  listApiKeys,
  type NewApiKey,
  revokeApiKey,
} from './api-keys.ts';
export { authenticate } from './authenticate.ts';
export { deletionOf, requestDeletion } from './deletion.ts';
export { type HeldRequest, orHold } from './held-requests.ts';
export { assertHere, transactionShifts } from './project-cells.ts';
export { LOGO_PATH, logoUrl, serveLogo } from './logo.ts';
export {
  createProject,
  customEventRetention,
  customEventRetentions,
  listProjects,
  postalAddressOf,
} from './projects.ts';
export {
  type Allowance,
  inVisitorTransaction,
  runForReport,
  takeRequest,
  takeVisit,
  type VisitLimit,
} from './rate-limit.ts';
