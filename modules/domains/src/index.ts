export { dkimField, type DkimSigner, signMessage } from './dkim/sign.ts';
export {
  addDomain,
  type AddDomainInput,
  addLocalDomain,
  blockDomain,
  getDomain,
  listDomains,
  removeDomain,
  requestCheck,
  unblockDomain,
} from './domains.ts';
export { type Publication, publishRecords, type PublishInput } from './publish/publish.ts';
export type { DnsRecord, RecordState } from './records.ts';
export { sendingSetup } from './sending-setup.ts';
export { dkimFor, type Sender, senderFor, senderProblem } from './sender.ts';
export { isTrackingHost } from './tracking-hosts.ts';
export { DayVolume, dayVolume, DEFAULT_WARMUP_STEPS, nextDay, setWarmup, type Warmup, warmupsOf } from './warmup.ts';
