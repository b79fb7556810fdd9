export {
  beginEpoch,
  findRestore,
  listUncertain,
  markUncertain,
  releaseSending,
  type Uncertain,
} from './after-restore.ts';
export { MESSAGES_OF_PERSON } from './messages-of-person.ts';
export { cancelCampaignMessages, cancelPlanned } from './cancel.ts';
export { type EmailRows, insertAttachments, insertEmails, rescheduleMessages } from './emails.ts';
export {
  type Capped,
  type Claimable,
  type ClaimedPage,
  type ClaimedRecipient,
  claimPage,
  NO_PAGE,
} from './claim-page.ts';
export { campaignNotice } from './campaign-notice.ts';
export { EMAIL_EVENT_MEMBERS, OF_ERASED } from './events.ts';
export { heldReason, readReservations, type SendingHold, sendingHold, setWitnesses } from './installation.ts';
export {
  closeInFlightJournals,
  type InFlightJournal,
  openInFlightJournal,
  openInFlightJournals,
} from './in-flight-journal.ts';
export { type ClaimKey, newClaim, workflowOf } from './claim.ts';
export { journalWitness } from './journal-witness.ts';
export { ledgerPool } from './ledger-pool.ts';
export { type CountedBy, releaseClaims, inLedgerTransaction, settle, suppressAll } from './ledger.ts';
export { type Claimed, type Settlement, settlementOf, settlementOfError } from './settlement.ts';
export { msUntilNextDue } from './next-due.ts';
export { MAIL_POLICY } from './policy.ts';
export { type ChangedPage, requeuePage, resolvePage } from './requeue.ts';
export {
  CampaignReservations,
  checkNotHeld,
  findSuccessor,
  reserveQueue,
  reserveRetries,
  type Reserved,
  whileReserved,
} from './reservations.ts';
export {
  batchesBefore,
  dropOldMessages,
  type DroppedMessages,
  NOTHING_DROPPED,
  partitionMessages,
} from './message-partitions.ts';
export { deleteOldContents, deleteOldEmails, deleteRecipients, messageRetentions } from './retention.ts';
export { ReplyWatch } from './reply-watch.ts';
export { withRetries } from './retries.ts';
export { RunTime } from './run-time.ts';
export { type Backoff, SendPipeline, type SendResult, UnrecordedError } from './send-pipeline.ts';
export { SnapshotEnd, watchCampaignStatus } from './watch-campaign.ts';
export { SendTrace } from './send-trace.ts';
export { ShardRanges } from './shard-ranges.ts';
export { countSoftBounces, endStreaks } from './soft-bounces.ts';
export { BOUNCE_CLASSES, type BounceClass, bounceClassOf } from './bounce-class.ts';
export { EMAIL_STATUSES, type EmailStatus, STATUS_CONDITIONS, statusOf } from './status.ts';
export {
  countShards,
  endShards,
  extendShard,
  hasExpiredShards,
  isWorthSharding,
  measureCores,
  openShard,
  renewShard,
  takeOverShards,
} from './shards.ts';
export { timelineOf } from './timeline.ts';
export { recoverFromJournals, settleStaleClaims } from './stale-claims.ts';
export type { Reservation } from './witness.ts';
