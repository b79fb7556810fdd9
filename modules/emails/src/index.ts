export { type Chosen, planAgain, resolveUnknown } from './again.ts';
export { campaignNotice } from './campaign-notice.ts';
export { formatMailbox, parseMailbox } from './mailbox.ts';
export { ledgerPool } from './ledger-pool.ts';
export { closeLost, giveBackUnsent, inLedgerTransaction, newClaim, settle, type Settlement } from './ledger.ts';
export {
  type AlternativeInput,
  type AttachmentInput,
  MAX_RECIPIENTS,
  scheduleProblem,
  type SendEmailInput,
} from './email-input.ts';
export {
  cancelEmail,
  type EmailFilter,
  getEmail,
  listEmails,
  type QueuedEmail,
  rescheduleEmail,
  sendEmail,
  sendEmailsOnce,
  sendEmails,
} from './emails.ts';
export {
  compileMessage,
  compositionError,
  type Frame,
  headerProblem,
  type Mailbox,
  MessageError,
} from './mime/index.ts';
export { type Hold, sendAll, type Sent, UnrecordedError } from './outflow.ts';
export {
  addToBody,
  escapeHtml,
  htmlProblem,
  missing,
  parseTemplate,
  renderTemplate,
  type Template,
  type Values,
  variablesOf,
} from '@postroom/templates/render';
export { recordLateReport, recordReports, type Report } from './reports.ts';
export { parseMail } from './parse-mail.ts';
export {
  findReturnAddress,
  namedAddresses,
  readReturn,
  readReturnAddress,
  type ReturnAddress,
  returnAddress,
  type Returned,
} from './returns/index.ts';
export {
  deleteOldContents,
  deleteOldEmails,
  deleteOldInboxMails,
  deleteRecipients,
  messageRetentions,
} from './retention.ts';
export { withRetries } from './retries.ts';
export { textTemplateOf } from './text-of-html.ts';
export type { Claimed } from './settlement.ts';
export { EMAIL_STATUSES, type EmailStatus, statusOf } from './status.ts';
export { messageIdOf } from './transactional.ts';
export { findUnsubscriber, unsubscribe, type Unsubscriber } from './unsubscribe.ts';
export { type Addressed, findAddressed, testUnsubscribeUrl, unsubscribeUrl } from './unsubscribe-link.ts';
export { handleUnsubscribe, type Preference, type Preferences } from './unsubscribe-page.ts';
export { signerFor } from './signing.ts';
export { handleMailboxCallback } from './providers/accounts/callback.ts';
export { CALLBACK_PATH } from './providers/accounts/authorization.ts';
export { type Route as MailRoute, routeFor } from './providers/route.ts';
export { mailboxIdFor, sendingProblem } from './providers/sender.ts';
export { signatureWarning } from './providers/signatures.ts';
export { handleSesNotification, SES_PATH } from './providers/ses/notifications.ts';
export {
  judgeHits,
  listLinks,
  readTracking,
  startTracking,
  storeLinks,
  trackHtml,
  trackingToken,
  type TrackedLink,
  type Tracking,
  type TrackingSwitches,
} from './tracking/index.ts';
