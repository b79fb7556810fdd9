export { type Certificate, readCertificate, selfSigned } from './certificate.ts';
export { anonymizedNetwork, clientAddress } from './client-address.ts';
export {
  guardedFetch,
  guardedLookup,
  hostOf,
  hostProblem,
  isAllowedAddress,
  newUrlProblem,
  type Resolve,
  resolveBySystem,
  urlProblem,
} from './ssrf-guard.ts';
export { assertNoTransaction, asTransaction } from './transaction-guard.ts';
