// Written by `npm run generate -w sdk/typescript` from the OpenAPI document; not edited by hand.

/** What is wrong with one field. */
export interface FieldProblem {
  /** A path into the request, such as `contacts.3.email`. */
  field: string;
  /** What is wrong with it. */
  message: string;
  /** Which conflict an `idempotency_conflict` is: only one `in_flight` is worth sending again. */
  reason?: 'in_flight' | 'different_request' | undefined;
}

/** What went wrong, for programs (`code`, `details[].field`) and for people (`message`). */
export interface ApiError {
  /** What kind of error it is. */
  code: 'validation_error' | 'unauthorized' | 'insufficient_scope' | 'forbidden' | 'not_found' | 'method_not_allowed' | 'conflict' | 'idempotency_conflict' | 'payload_too_large' | 'unsupported_media_type' | 'rate_limited' | 'internal_error' | 'timeout';
  /** A sentence for the people who read it. */
  message: string;
  /** The value of the `X-Request-Id` header. */
  request_id: string;
  /** What is wrong with which field; empty when it is not about fields. */
  details: FieldProblem[];
}

export interface ErrorResponse {
  error: ApiError;
}

/** A workspace with its own contacts, campaigns and keys. Every request acts on exactly one. */
export interface Project {
  /** Project id: what `X-Project-Id` takes. */
  id: string;
  /** Display name. */
  name: string;
  /** When it was created. */
  createdAt: string;
}

/**
 * Where an email is.
 *
 * - `bounced`: It bounced.
 * - `canceled`: It was stopped before it went out.
 * - `complained`: The recipient marked it as spam.
 * - `delivered`: The recipient's server accepted it.
 * - `failed`: A server or the provider refused it for good.
 * - `queued`: It goes out as soon as the mail server takes it.
 * - `scheduled`: It goes out at its time.
 * - `sent`: The provider accepted it. Whether it was delivered is not known yet, or never where nobody reports it.
 * - `suppressed`: The address is not to be mailed.
 * - `unknown`: The connection broke when it may have been accepted. It is not sent again by itself.
 */
export type EmailStatus = 'bounced' | 'canceled' | 'complained' | 'delivered' | 'failed' | 'queued' | 'scheduled' | 'sent' | 'suppressed' | 'unknown';

/** One email, transactional or of a campaign. */
export interface Email {
  /** Message id, the same in every event about it. */
  id: string;
  /** Where it is; of several addresses, the first. */
  status: EmailStatus;
  /** The sender; null for a message of a campaign, which names it. */
  from: string | null;
  /** Recipients. */
  to: string[];
  /** Recipients of a copy. */
  cc: string[];
  /** Recipients of a blind copy. */
  bcc: string[];
  /** Reply-to addresses. */
  replyTo: string[];
  /** With placeholders filled in; null when it is its campaign's as it stands. */
  subject: string | null;
  /** What the sender marked it with. */
  tags: string[];
  /** What the sender gave; echoed in events. */
  metadata: Record<string, unknown>;
  /** The campaign it belongs to; null otherwise. */
  campaignId: string | null;
  /** The contact it goes to, in a campaign. */
  contactId: string | null;
  /** The server's last answer, or why there was none. */
  answer: string | null;
  /** When it was asked to go out; null for at once. */
  scheduledAt: string | null;
  /** When it was taken. */
  createdAt: string;
}

/** Where a contact came from. */
export type ContactSource = 'api' | 'dashboard' | 'form' | 'import';

/** A segment that a contact is in. */
export interface ContactSegment {
  /** Segment id. */
  id: string;
  /** What the segment is called. */
  name: string;
}

/** Why a contact is not mailed, the strongest reason if there are several; `none` when it is mailed. */
export type SuppressionStatus = 'bounced' | 'complained' | 'manual' | 'none' | 'unsubscribed';

/** A person a project may write to. */
export interface Contact {
  /** Contact id. */
  id: string;
  /** Unique among the project's contacts, without regard to case. */
  email: string;
  /** The local part of the address unless another was given. */
  name: string;
  /** Where it came from. */
  source: ContactSource;
  /** The segments it is in now, in the order of their names. */
  segments: ContactSegment[];
  /** Why it is not mailed; `none` if it is. */
  suppressionStatus: SuppressionStatus;
  /** Values by custom-field key. */
  customFields: Record<string, unknown>;
  /** When it was added. */
  createdAt: string;
  /** When its own fields last changed. */
  updatedAt: string;
}

/** What a custom field holds. */
export type CustomFieldType = 'boolean' | 'date' | 'number' | 'select' | 'text';

/** One key of the project's custom-field schema. */
export interface CustomField {
  /** Custom field id. */
  id: string;
  /** What `customFields` of a contact and placeholders call it. */
  key: string;
  /** Display name. */
  label: string;
  /** What it holds. */
  type: CustomFieldType;
  /** The values allowed when the type is `select`. */
  options: string[];
  /** When it was added. */
  createdAt: string;
}

/** Why an address is not to be mailed, the strongest reason first. */
export type SuppressionReason = 'bounced' | 'complained' | 'manual' | 'unsubscribed';

/** An address not to be mailed, and why. It outlives the contact. */
export interface Suppression {
  /** Suppression id. */
  id: string;
  /** The address. */
  email: string;
  /** Why it is not to be mailed. */
  reason: SuppressionReason;
  /** Since when. */
  createdAt: string;
}

/** A saved filter over contacts. Its members are the contacts that match now. */
export interface Segment {
  /** Segment id. */
  id: string;
  /** Unique within the project. */
  name: string;
  /** A condition `{field, op, value}`, or filters put together by `and`, `or`, `not`; see the page on segments. */
  filter: Record<string, unknown>;
  /** Raised by each edit; an edit may name the one that it was written on. */
  version: number;
  /** Who edited it last, `usr_…` or `key_…`; null if unknown. */
  editedById: string | null;
  /** What the person or the key is called now; null when they are gone. */
  editedByName: string | null;
  /** When it was saved. */
  createdAt: string;
  /** When its name or filter last changed. */
  updatedAt: string;
}

/** A named set of contact ids inside a project. It always has at least one member. */
export interface Group {
  /** Group id. */
  id: string;
  /** Unique within the project. */
  name: string;
  /** Member contact ids, those of deleted contacts included. */
  contactIds: string[];
  /** Number of member ids. */
  contactCount: number;
}

/** A named set of contact ids inside a project. It always has at least one member. */
export interface GroupSummary {
  /** Group id. */
  id: string;
  /** Unique within the project. */
  name: string;
  /** Number of member ids. */
  contactCount: number;
}

/**
 * Where an import is.
 *
 * - `canceled`: It was ended before its end; what was written stays.
 * - `completed`: Every row is written, or reported.
 * - `failed`: The file can not be used; `error` says why. Nothing was written.
 * - `queued`: It begins as soon as a worker takes it up.
 * - `running`: Its rows are being written.
 * - `uploading`: Its file is not all there yet.
 */
export type ImportStatus = 'canceled' | 'completed' | 'failed' | 'queued' | 'running' | 'uploading';

/** What became of the rows so far; in a dry run, what would. */
export interface ImportCounts {
  /** Rows dealt with. The others add up to it. */
  rows: number;
  /** Contacts that are new. */
  created: number;
  /** Contacts that were there and were changed. */
  updated: number;
  /** Contacts that were there and stay as they were. */
  unchanged: number;
  /** Rows whose address an earlier row of the file has. */
  duplicates: number;
  /** Rows whose address is new and not to be mailed. */
  suppressed: number;
  /** Rows that can not be a contact. */
  invalid: number;
}

/** A column of the file and what it becomes. */
export interface ImportColumn {
  /** What the file calls it. */
  name: string;
  /** `email`, `name` or `customFields.<key>`; empty when it is not imported. */
  fields: string[];
  /** The type of the custom field. */
  type: string | null;
  /** Whether the custom field is made for it. */
  isNew: boolean;
}

/** What happens to a contact that exists: nothing, or the name and the custom fields given are written. */
export type OnConflict = 'skip' | 'update';

/** A CSV file of contacts that is written into the project in the background, and what became of its rows. */
export interface Import {
  /** Import id; its workflow in Temporal has the same. */
  id: string;
  /** Where it is. */
  status: ImportStatus;
  /** How much of the file has been dealt with, 0 to 1. */
  progress: number;
  /** What became of the rows. */
  counts: ImportCounts;
  /** Why it failed. */
  error: string | null;
  /** What the file is called. */
  fileName: string | null;
  /** Bytes of the file. */
  size: number;
  /** Of the file; as found, unless it was given. */
  encoding: string | null;
  /** What is between values; as found, unless it was given. */
  separator: string | null;
  /** What the columns become; empty until the file has been looked at. */
  columns: ImportColumn[];
  /** What happens to contacts that exist. */
  onConflict: OnConflict;
  /** Whether nothing is written, only told what would be. */
  dryRun: boolean;
  /** Whether columns that are no custom field become one. */
  createFields: boolean;
  /** The group that its contacts join; one made for it as soon as it has a member. */
  groupId: string | null;
  /** The name of the group, when that was given. */
  groupName: string | null;
  /** When somebody canceled it; it ends after the rows that are being written. */
  cancelRequestedAt: string | null;
  /** When its upload began. */
  createdAt: string;
  /** When rows began to be written. */
  startedAt: string | null;
  /** When it ended. */
  finishedAt: string | null;
}

/**
 * Where a campaign is.
 *
 * - `canceled`: It was ended before all had gone out.
 * - `completed`: No recipient is left to send to.
 * - `draft`: It can be edited and sent.
 * - `paused`: Nothing goes out until it is resumed; `pauseReason` says why if it was paused automatically.
 * - `scheduled`: It starts at its time, and can be edited or sent until then.
 * - `sending`: Its messages go out in the background.
 */
export type CampaignStatus = 'canceled' | 'completed' | 'draft' | 'paused' | 'scheduled' | 'sending';

/**
 * What the number of delivered messages stands for.
 *
 * - `accepted_only`: Nothing has been reported so far, as by an SMTP relay without delivery status notifications: it is known that messages were accepted (`sent`), not that they were delivered.
 * - `reported`: The transport reports deliveries. Of a message without a report nothing is known yet.
 */
export type DeliveryTracking = 'accepted_only' | 'reported';

/** What recipients did, in numbers. */
export interface CampaignEngagement {
  /** Messages the provider accepted. */
  sent: number;
  /** Messages the recipients' servers accepted, as far as that is reported: see `deliveryTracking`. */
  delivered: number;
  /** Whether deliveries are reported; null until a message has been accepted. */
  deliveryTracking: DeliveryTracking | null;
  /** Recipients who opened the message. */
  opened: number;
  /** Recipients who clicked a link. */
  clicked: number;
  /** Messages that bounced. */
  bounced: number;
  /** Recipients who marked it as spam. */
  complained: number;
  /** Recipients who unsubscribed. */
  unsubscribed: number;
  /** Messages whose images a program fetched, such as a privacy proxy on arrival. */
  openedByMachines: number;
  /** Messages whose links a program tried, such as a scanner. */
  clickedByMachines: number;
}

/** How many recipients are in each state. They add up to the number of recipients. */
export interface CampaignProgress {
  /** To be sent. */
  planned: number;
  /** Being sent. */
  claimed: number;
  /** Accepted by the provider. */
  accepted: number;
  /** Refused for good. */
  failed: number;
  /** Not to be mailed. */
  suppressed: number;
  /** Possibly accepted; the outcome cannot be known. */
  unknown: number;
  /** Canceled before they went out. */
  canceled: number;
}

/** One mailing to many recipients, and where it stands. */
export interface Campaign {
  /** Campaign id; its workflow in Temporal has the same. */
  id: string;
  /** Display name. */
  name: string;
  /** It may have placeholders. */
  subject: string | null;
  /** Where it is. */
  status: CampaignStatus;
  /** When it was scheduled to start. */
  scheduledAt: string | null;
  /** Contacts it goes to, as frozen when it started; 0 before. */
  recipientCount: number;
  /** What recipients did. */
  engagement: CampaignEngagement;
  /** Recipients by state. */
  progress: CampaignProgress;
  /** What the sender is called. */
  fromName: string | null;
  /** The address it is sent from. */
  fromEmail: string | null;
  /** Reply-to addresses. */
  replyTo: string | null;
  /** The template that gives the body. */
  templateId: string | null;
  /** The number of the version of its template that goes out; null before the start, or without one. */
  templateVersion: number | null;
  /** Groups it goes to. */
  groupIds: string[];
  /** Segments it goes to. */
  segmentIds: string[];
  /** Why it was paused automatically, or blocks its sender after it was completed; null when a user paused it. */
  pauseReason: string | null;
  /** Whether campaigns from its sender's domain are refused because of how its mail was received: until it is resumed or canceled, or acknowledged when it was completed before that was known. */
  blocksSender: boolean;
  /** When it goes on by itself, while it is sending and waits for another day; null otherwise. */
  waitingUntil: string | null;
  /** What it waits for; null when it does not. */
  waitingReason: string | null;
  /** Messages per second at most; null for no limit. */
  ratePerSecond: number | null;
  /** Whether opens are tracked; until the campaign starts, null means the project's setting. */
  trackOpens: boolean | null;
  /** Whether clicks are tracked; until the campaign starts, null means the project's setting. */
  trackClicks: boolean | null;
  /** When it was started. */
  startedAt: string | null;
  /** When it was completed or canceled. */
  completedAt: string | null;
  /** When its recipients were deleted, since they were older than the project keeps messages: counts stay, recipients are no longer listed. */
  recipientsDeletedAt: string | null;
  /** When it was created. */
  createdAt: string;
  /** When it was last edited, or its status commanded. */
  updatedAt: string;
}

/**
 * What became of one message of a campaign.
 *
 * - `accepted`: The provider accepted it.
 * - `canceled`: The campaign was canceled before it went out.
 * - `claimed`: It is being sent.
 * - `failed`: A server refused it for good.
 * - `planned`: It has not been sent, or goes again because the server said "later".
 * - `suppressed`: The address is not to be mailed.
 * - `unknown`: The connection broke when it may have been accepted. It is not sent again by itself.
 */
export type RecipientState = 'accepted' | 'canceled' | 'claimed' | 'failed' | 'planned' | 'suppressed' | 'unknown';

/** A contact as a campaign froze it, and what became of its message. */
export interface CampaignRecipient {
  /** Message id. */
  id: string;
  /** The contact. */
  contactId: string;
  /** The address, as it was. */
  email: string;
  /** What became of the message. */
  state: RecipientState;
  /** The server's last answer, or why there was none. */
  answer: string | null;
  /** How often a server said "later". */
  deferrals: number;
  /** When it goes again; null when it does not. */
  notBefore: string | null;
  /** When sending was last started. */
  claimedAt: string | null;
  /** When the provider accepted it. */
  acceptedAt: string | null;
  /** When the recipient's server accepted it. */
  deliveredAt: string | null;
  /** When it was first opened. */
  openedAt: string | null;
  /** When a link was first clicked. */
  clickedAt: string | null;
  /** When it bounced. */
  bouncedAt: string | null;
  /** When it was marked as spam. */
  complainedAt: string | null;
  /** When the recipient unsubscribed by it. */
  unsubscribedAt: string | null;
}

/** A tracked link of a campaign, and how often it was followed. */
export interface CampaignLink {
  /** Its number in the HTML; 0 for the first. */
  position: number;
  /** Where it leads; with placeholders as its author wrote them. */
  url: string;
  /** Clicks by people. */
  clicks: number;
  /** Recipients who followed it. */
  uniqueClicks: number;
  /** Clicks by programs. */
  clicksByMachines: number;
}

/**
 * What a body is written in.
 *
 * - `html`: HTML, which is sent as it is.
 * - `mjml`: MJML, which is made into HTML when it is saved.
 */
export type ContentFormat = 'html' | 'mjml';

/**
 * Whether a template is ready to be sent.
 *
 * - `draft`: Still being written.
 * - `published`: Ready to be sent.
 */
export type TemplateStatus = 'draft' | 'published';

/** Content to send again and again; its placeholders may have a default value. */
export interface Template {
  /** Template id. */
  id: string;
  /** Unique within the project. */
  name: string;
  /** The subject to start from. */
  subject: string | null;
  /** HTML with placeholders such as `{{name|there}}`. */
  body: string;
  /** What the body was written in. */
  format: ContentFormat;
  /** The MJML that the body was made from; null when it is HTML as it was written. */
  source: string | null;
  /** Whether it is ready to be sent. */
  status: TemplateStatus;
  /** The number of its newest version, which is what it says now. */
  version: number;
  /** When it was created. */
  createdAt: string;
  /** When it last changed. */
  updatedAt: string;
}

/** What a template said from one save to the next; it never changes. */
export interface TemplateVersion {
  /** Version id. */
  id: string;
  /** Counted from 1 in each template. */
  number: number;
  /** The subject to start from. */
  subject: string | null;
  /** HTML with placeholders such as `{{name|there}}`. */
  body: string;
  /** What the body was written in. */
  format: ContentFormat;
  /** The MJML that the body was made from; null when it is HTML as it was written. */
  source: string | null;
  /** Whether the template was ready to be sent. */
  status: TemplateStatus;
  /** The number of the version that was restored by it; null when it was written. */
  restoredFrom: number | null;
  /** Who saved it, `usr_…` or `key_…`; null for what was there before versions were kept. */
  authorId: string | null;
  /** What the person or the key is called now; null when they are gone. */
  authorName: string | null;
  /** When it was saved. */
  createdAt: string;
}

/**
 * How the check of one part of a domain stands.
 *
 * - `failed`: Not seen for 72 hours after it was added, or lost for three days. Still looked for daily.
 * - `failing`: Was verified and is not any more; there are three days to mend it.
 * - `pending`: Not seen yet.
 * - `verified`: Seen, and right.
 */
export type VerificationStatus = 'failed' | 'failing' | 'pending' | 'verified';

/** A domain that a project sends from. Read-only for API keys. */
export interface Domain {
  /** Domain name. */
  domain: string;
  /** Whether mail may be sent from it now. */
  verifiedForSending: boolean;
  /** The DKIM keys. */
  dkim: VerificationStatus;
  /** The MAIL FROM subdomain. */
  mailFrom: VerificationStatus;
  /** The DMARC policy. */
  dmarc: VerificationStatus;
  /** Sending region. */
  region: string;
  /** Creation time. */
  createdAt: string;
}

/** A customer's URL that events are posted to. Its signing secret is shown once, when it is created. */
export interface WebhookEndpoint {
  /** Endpoint id. */
  id: string;
  /** Where events are posted to. */
  url: string;
  /** What it is for. */
  description: string | null;
  /** Event types, or `["*"]` for all, those added later included. */
  events: string[];
  /** Whether events go to it. */
  enabled: boolean;
  /** When it was disabled. */
  disabledAt: string | null;
  /** Why it was disabled, in words. */
  disabledReason: string | null;
  /** Whether it was disabled because its deliveries kept failing. Then only a signed-in user can enable it. */
  disabledAutomatically: boolean;
  /** Since when no attempt has been acknowledged; null when the last one was. */
  failingSince: string | null;
  /** When it was created. */
  createdAt: string;
  /** When it last changed. */
  updatedAt: string;
}

/**
 * Where a delivery stands.
 *
 * - `acknowledged`: The receiver answered with a 2xx status.
 * - `failed`: Six attempts were not acknowledged, or it was given up.
 * - `queued`: No attempt has been made yet.
 * - `retried`: At least one attempt was not acknowledged, and another will be made.
 */
export type DeliveryState = 'acknowledged' | 'failed' | 'queued' | 'retried';

/** One event to one endpoint. */
export interface WebhookDelivery {
  /** Delivery id; its workflow in Temporal has the same. */
  id: string;
  /** The endpoint it goes to. */
  endpointId: string;
  /** The event it carries. */
  eventId: string;
  /** The type of that event. */
  eventType: string;
  /** Where it stands. */
  state: DeliveryState;
  /** Attempts made so far. */
  attemptCount: number;
  /** When the next attempt is due; null when none is. */
  nextAttemptAt: string | null;
  /** The delivery that this one repeats. */
  replayOf: string | null;
  /** When it was queued. */
  createdAt: string;
  /** When it was acknowledged or failed. */
  closedAt: string | null;
}

/** A file that goes with an email. */
export interface EmailAttachment {
  /** What it is called. */
  filename: string;
  /** Its content type, if one was given. */
  contentType: string | null;
  /** What `cid:` links name. */
  contentId: string | null;
}

/** One of the addresses that an email goes to, each of which has its own fate. */
export interface EmailRecipient {
  /** The address. */
  email: string;
  /** Where its copy is. */
  status: EmailStatus;
  /** The server's last answer. */
  answer: string | null;
}

/** Something that happened to an email. */
export interface EmailEvent {
  /** Such as `email.sent`; the event of that name tells webhooks. */
  type: string;
  /** When. */
  at: string;
  /** What a server answered, where it did. */
  detail: string | null;
}

/** One email, transactional or of a campaign. */
export interface EmailDetail {
  /** Message id, the same in every event about it. */
  id: string;
  /** Where it is; of several addresses, the first. */
  status: EmailStatus;
  /** The sender; null for a message of a campaign, which names it. */
  from: string | null;
  /** Recipients. */
  to: string[];
  /** Recipients of a copy. */
  cc: string[];
  /** Recipients of a blind copy. */
  bcc: string[];
  /** Reply-to addresses. */
  replyTo: string[];
  /** With placeholders filled in; null when it is its campaign's as it stands. */
  subject: string | null;
  /** What the sender marked it with. */
  tags: string[];
  /** What the sender gave; echoed in events. */
  metadata: Record<string, unknown>;
  /** The campaign it belongs to; null otherwise. */
  campaignId: string | null;
  /** The contact it goes to, in a campaign. */
  contactId: string | null;
  /** The server's last answer, or why there was none. */
  answer: string | null;
  /** When it was asked to go out; null for at once. */
  scheduledAt: string | null;
  /** When it was taken. */
  createdAt: string;
  /** Its HTML; null when it has none, or belongs to a campaign. */
  html: string | null;
  /** Its text; null when it is made from the HTML. */
  text: string | null;
  /** Headers that the sender added. */
  headers: Record<string, unknown>;
  /** The files that go with it. */
  attachments: EmailAttachment[];
  /** Every address it goes to. */
  recipients: EmailRecipient[];
  /** What has happened to it, first thing first. */
  events: EmailEvent[];
}

/** A saved filter over contacts. Its members are the contacts that match now. */
export interface SegmentDetail {
  /** Segment id. */
  id: string;
  /** Unique within the project. */
  name: string;
  /** A condition `{field, op, value}`, or filters put together by `and`, `or`, `not`; see the page on segments. */
  filter: Record<string, unknown>;
  /** Raised by each edit; an edit may name the one that it was written on. */
  version: number;
  /** Who edited it last, `usr_…` or `key_…`; null if unknown. */
  editedById: string | null;
  /** What the person or the key is called now; null when they are gone. */
  editedByName: string | null;
  /** When it was saved. */
  createdAt: string;
  /** When its name or filter last changed. */
  updatedAt: string;
  /** How many contacts are in it now. It is counted when asked for. */
  contactCount: number;
}

/** A member of a group that still exists. */
export interface GroupMember {
  /** Contact id. */
  id: string;
  /** The address. */
  email: string;
  /** What the contact is called. */
  name: string;
}

/** A named set of contact ids inside a project. It always has at least one member. */
export interface GroupDetail {
  /** Group id. */
  id: string;
  /** Unique within the project. */
  name: string;
  /** Number of member ids stored on the group. */
  memberCount: number;
  /** Members that still exist. */
  contacts: GroupMember[];
}

/** One mailing to many recipients, and where it stands. */
export interface CampaignDetail {
  /** Campaign id; its workflow in Temporal has the same. */
  id: string;
  /** Display name. */
  name: string;
  /** It may have placeholders. */
  subject: string | null;
  /** Where it is. */
  status: CampaignStatus;
  /** When it was scheduled to start. */
  scheduledAt: string | null;
  /** Contacts it goes to, as frozen when it started; 0 before. */
  recipientCount: number;
  /** What recipients did. */
  engagement: CampaignEngagement;
  /** Recipients by state. */
  progress: CampaignProgress;
  /** What the sender is called. */
  fromName: string | null;
  /** The address it is sent from. */
  fromEmail: string | null;
  /** Reply-to addresses. */
  replyTo: string | null;
  /** The template that gives the body. */
  templateId: string | null;
  /** The number of the version of its template that goes out; null before the start, or without one. */
  templateVersion: number | null;
  /** Groups it goes to. */
  groupIds: string[];
  /** Segments it goes to. */
  segmentIds: string[];
  /** Why it was paused automatically, or blocks its sender after it was completed; null when a user paused it. */
  pauseReason: string | null;
  /** Whether campaigns from its sender's domain are refused because of how its mail was received: until it is resumed or canceled, or acknowledged when it was completed before that was known. */
  blocksSender: boolean;
  /** When it goes on by itself, while it is sending and waits for another day; null otherwise. */
  waitingUntil: string | null;
  /** What it waits for; null when it does not. */
  waitingReason: string | null;
  /** Messages per second at most; null for no limit. */
  ratePerSecond: number | null;
  /** Whether opens are tracked; until the campaign starts, null means the project's setting. */
  trackOpens: boolean | null;
  /** Whether clicks are tracked; until the campaign starts, null means the project's setting. */
  trackClicks: boolean | null;
  /** When it was started. */
  startedAt: string | null;
  /** When it was completed or canceled. */
  completedAt: string | null;
  /** When its recipients were deleted, since they were older than the project keeps messages: counts stay, recipients are no longer listed. */
  recipientsDeletedAt: string | null;
  /** When it was created. */
  createdAt: string;
  /** When it was last edited, or its status commanded. */
  updatedAt: string;
  /** The body; after the start also a template's. */
  html: string | null;
  /** What the body was written in. */
  format: ContentFormat;
  /** The MJML that the HTML was made from; null when it is HTML as it was written. */
  source: string | null;
  /** The text part; made from the HTML when null. */
  text: string | null;
  /** Raised by each edit; an edit may name the one that it was written on. */
  version: number;
  /** Who edited it last, `usr_…` or `key_…`; null if unknown. */
  editedById: string | null;
  /** What the person or the key is called now; null when they are gone. */
  editedByName: string | null;
}

/** A DNS record to publish. */
export interface DnsRecord {
  /** What it verifies: `dkim`, `mailFrom`, `dmarc` or `tracking`. */
  purpose: string;
  /** Record type, such as TXT. */
  type: string;
  /** Full name of the record. */
  name: string;
  /** What to publish. */
  value: string;
}

/** How much mail suffers, the worst first. */
export type RecommendationSeverity = 'high' | 'info' | 'low' | 'medium';

/** A DNS record that would settle a recommendation. */
export interface RecommendedRecord {
  /** Record type, such as TXT. */
  type: string;
  /** Full name of the record. */
  name: string;
  /** What to publish in place of what is there. */
  value: string;
}

/** A recommended change to the DNS of a domain. */
export interface DomainRecommendation {
  /** Which one it is, such as `dmarc_missing`. */
  id: string;
  /** How much mail suffers. */
  severity: RecommendationSeverity;
  /** What to do. */
  title: string;
  /** Why. */
  detail: string;
  /** What to publish, if that does it. */
  record: RecommendedRecord | null;
}

/** Who runs the name servers of a domain. */
export interface DnsProvider {
  /** Which one it is, such as `cloudflare`. */
  id: string;
  /** What it is called. */
  name: string;
  /** Where its records are edited. */
  editorUrl: string;
}

/** Something that happened to a domain. */
export interface LifecycleEvent {
  /** When. */
  at: string;
  /** Such as `added`, `verified`, `failing`, `failed`, `checkRequested`. */
  type: string;
  /** `dkim`, `mailFrom`, `dmarc`, `tracking`, or `domain` for the whole. */
  part: string;
  /** The id of a person, or `system`, or `operator`. */
  actor: string;
  /** A sentence that says it. */
  detail: string;
}

/** A domain that a project sends from. Read-only for API keys. */
export interface DomainDetail {
  /** Domain name. */
  domain: string;
  /** Whether mail may be sent from it now. */
  verifiedForSending: boolean;
  /** The DKIM keys. */
  dkim: VerificationStatus;
  /** The MAIL FROM subdomain. */
  mailFrom: VerificationStatus;
  /** The DMARC policy. */
  dmarc: VerificationStatus;
  /** Sending region. */
  region: string;
  /** Creation time. */
  createdAt: string;
  /** The whole domain. */
  verification: VerificationStatus;
  /** The records to publish. */
  records: DnsRecord[];
  /** Open deliverability recommendations, the worst first. */
  recommendations: DomainRecommendation[];
  /** The DNS provider that was detected. */
  dnsProvider: DnsProvider | null;
  /** What happened to the domain, newest first; at most the last 200. */
  lifecycle: LifecycleEvent[];
}

/** What a delivery carries: the body that is posted, in parts. */
export interface WebhookEvent {
  /** Event id: what receivers deduplicate on. */
  id: string;
  /** Event type. */
  type: string;
  /** When it happened. */
  created: string;
  /** Its members; which, depends on the type. */
  data: Record<string, unknown>;
}

/** One POST of a delivery, and its answer. */
export interface DeliveryAttempt {
  /** 1 to 6. */
  number: number;
  /** When it began. */
  startedAt: string;
  /** How long it took, in milliseconds. */
  durationMs: number;
  /** The HTTP status; null when none arrived. */
  status: number | null;
  /** Why there was no complete answer, in words. */
  error: string | null;
  /** The first 4 KB of the answer's body. */
  response: string | null;
  /** The headers that were sent. */
  headers: Record<string, unknown>;
}

/** One event to one endpoint. */
export interface WebhookDeliveryDetail {
  /** Delivery id; its workflow in Temporal has the same. */
  id: string;
  /** The endpoint it goes to. */
  endpointId: string;
  /** The event it carries. */
  eventId: string;
  /** The type of that event. */
  eventType: string;
  /** Where it stands. */
  state: DeliveryState;
  /** Attempts made so far. */
  attemptCount: number;
  /** When the next attempt is due; null when none is. */
  nextAttemptAt: string | null;
  /** The delivery that this one repeats. */
  replayOf: string | null;
  /** When it was queued. */
  createdAt: string;
  /** When it was acknowledged or failed. */
  closedAt: string | null;
  /** The event it carries. */
  event: WebhookEvent;
  /** Its attempts, first one first. */
  attempts: DeliveryAttempt[];
}

/** A file to send along. */
export interface AttachmentInput {
  /** Its bytes in base64. */
  content: string;
  /** For an inline image: what `cid:` links in the HTML name. */
  content_id?: string | null | undefined;
  /** Its content type; told from the file name when not given. */
  content_type?: string | null | undefined;
  /** What it is called; 1 to 255 characters without slashes and control characters. */
  filename: string;
}

/** A transactional email. */
export interface SendEmailInput {
  /** Files to send along. */
  attachments?: AttachmentInput[] | null | undefined;
  /** Recipients of a blind copy. */
  bcc?: string | string[] | null | undefined;
  /** Recipients of a copy. */
  cc?: string | string[] | null | undefined;
  /** The sender, at a domain of the project that is verified for sending. */
  from: string;
  /** An object of further headers. */
  headers?: Record<string, unknown> | null | undefined;
  /** The HTML body: at most 5,000,000 characters and 50,000 elements, nested at most 200 deep. */
  html?: string | null | undefined;
  /** An object that is echoed in its events. */
  metadata?: Record<string, unknown> | null | undefined;
  /** Reply-to addresses. */
  reply_to?: string | string[] | null | undefined;
  /** When it is to go out; at once when not given. */
  scheduled_at?: string | null | undefined;
  /** At most 998 characters; the template's when not given. */
  subject?: string | null | undefined;
  /** At most 20 words to find it by. */
  tags?: string[] | null | undefined;
  /** A published template whose body is the HTML. */
  template_id?: string | null | undefined;
  /** The text body; made from the HTML when not given. */
  text?: string | null | undefined;
  /** Recipients; at most 50 together with cc and bcc. */
  to: string | string[];
  /** Whether clicks are tracked; the project's setting by default. */
  track_clicks?: boolean | null | undefined;
  /** Whether opens are tracked; the project's setting by default. */
  track_opens?: boolean | null | undefined;
  /** An object of values for placeholders such as `{{name|there}}`. */
  variables?: Record<string, unknown> | null | undefined;
}

/** An email that has been taken. */
export interface QueuedEmail {
  /** Message id. */
  id: string;
  /** `queued`; `scheduled` when it has a time; `suppressed` when no address of it may be mailed. */
  status: EmailStatus;
}

/** Several transactional emails. */
export interface SendEmailsInput {
  /** 1 to 100 emails; all are taken, or none. */
  emails: SendEmailInput[];
}

/** Another time for a scheduled email. */
export interface RescheduleEmailInput {
  /** When it is to go out. */
  scheduled_at: string;
}

/** A new contact. */
export interface CreateContactInput {
  /** An object of values by key, coerced against the project's custom fields. */
  custom_fields?: Record<string, unknown> | null | undefined;
  /** The address; surrounding space is dropped. */
  email: string;
  /** At most 200 characters; the local part of the address when it is not given. */
  name?: string | null | undefined;
}

/** One contact of a batch. What is wrong with it is reported in its result. */
export interface BatchContactInput {
  /** An object of values by key, coerced against the project's custom fields. */
  custom_fields?: unknown | undefined;
  /** The address. */
  email?: string | null | undefined;
  /** At most 200 characters; the local part of the address when it is not given. */
  name?: string | null | undefined;
}

/** Many contacts at once. */
export interface CreateContactsBatchInput {
  /** 1 to 1,000 contacts. */
  contacts: BatchContactInput[];
  /** `skip` unless it says. */
  on_conflict?: OnConflict | null | undefined;
}

/** What became of a contact of a batch. */
export type BatchContactStatus = 'created' | 'error' | 'existing' | 'updated';

/** What to change; what is not given stays. */
export interface UpdateContactInput {
  /** Replaces all values. */
  custom_fields?: Record<string, unknown> | null | undefined;
  /** A new address; no other contact's, and not suppressed. */
  email?: string | null | undefined;
  /** A new name; blank for the local part of the address. */
  name?: string | null | undefined;
  /** False adds an unsubscribe suppression for the address, true clears it. */
  subscribed?: boolean | null | undefined;
  /** When it had last changed as this was written; `conflict` when it has changed since. */
  updated_at?: string | null | undefined;
}

/** A new custom field. */
export interface CreateCustomFieldInput {
  /** A letter, then at most 63 letters, digits and underscores; unique within the project. */
  key: string;
  /** Display name; the key by default. */
  label?: string | null | undefined;
  /** The values allowed; for `select` only. */
  options?: string[] | null | undefined;
  /** What it holds; it stays. */
  type: CustomFieldType;
}

/** What to change; what is not given stays. */
export interface UpdateCustomFieldInput {
  /** A new label. */
  label?: string | null | undefined;
  /** Replaces the options of a `select` field; values of contacts stay. */
  options?: string[] | null | undefined;
}

/** An address not to be mailed. */
export interface AddSuppressionInput {
  /** The address, a contact's or not. */
  email: string;
  /** `manual` unless it says; the others are for lists brought along from elsewhere. */
  reason?: SuppressionReason | null | undefined;
}

/** A new segment. */
export interface CreateSegmentInput {
  /** A condition `{field, op, value}`, or filters put together by `and`, `or`, `not`; see the page on segments. */
  filter: Record<string, unknown>;
  /** Unique within the project; 1 to 200 characters. */
  name: string;
}

/** What a filter would hold if it were saved. */
export interface SegmentPreview {
  /** How many contacts it holds now. */
  contactCount: number;
  /** The ten newest of them. */
  contacts: Contact[];
}

/** What to change; what is not given stays. */
export interface UpdateSegmentInput {
  /** Replaces the filter. */
  filter?: Record<string, unknown> | null | undefined;
  /** A new name, unique within the project. */
  name?: string | null | undefined;
  /** The version that this was written on; `conflict` when it is not the newest any more. */
  version?: number | null | undefined;
}

/** What was removed, or made nameless, when a person was erased. */
export interface PersonErased {
  /** Messages that are figures without a name now. */
  messages: number;
  /** Events that say no more whom they are about. */
  events: number;
  /** Messages that waited and are not sent. */
  canceled: number;
}

/** A new group. At least one of the ids or addresses must be an existing contact. */
export interface CreateGroupInput {
  /** Contact ids; ids of contacts that do not exist are ignored. */
  contact_ids?: string[] | null | undefined;
  /** Addresses, matched to existing contacts without regard to case. */
  emails?: string[] | null | undefined;
  /** Unique within the project; 1 to 200 characters. */
  name: string;
}

/** What to change; what is not given stays. */
export interface UpdateGroupInput {
  /** Replaces the whole member list. */
  contact_ids?: string[] | null | undefined;
  /** A new name, unique within the project. */
  name?: string | null | undefined;
}

/** The contacts to add, by id, by address or both. */
export interface AddContactsInput {
  /** Contact ids; ids of contacts that do not exist are ignored. */
  contact_ids?: string[] | null | undefined;
  /** Addresses, matched to existing contacts without regard to case. */
  emails?: string[] | null | undefined;
}

/** A new campaign. A draft may be incomplete. */
export interface CreateCampaignInput {
  /** What the body is written in; HTML unless given. */
  format?: ContentFormat | null | undefined;
  /** The sender, at a domain of the project that is verified when it is sent. */
  from_email?: string | null | undefined;
  /** What the sender is called. */
  from_name?: string | null | undefined;
  /** Groups to send to. */
  group_ids?: string[] | null | undefined;
  /** The body, instead of a template: HTML, or MJML. */
  html?: string | null | undefined;
  /** Display name, 1 to 200 characters. */
  name: string;
  /** Messages per second at most. */
  rate_per_second?: number | null | undefined;
  /** Reply-to addresses. */
  reply_to?: string | null | undefined;
  /** Segments to send to. */
  segment_ids?: string[] | null | undefined;
  /** At most 998 characters; it may have placeholders such as `{{name|there}}`. */
  subject?: string | null | undefined;
  /** A template that gives the body, as it is when the campaign starts. */
  template_id?: string | null | undefined;
  /** The text part; made from the HTML when not given. */
  text?: string | null | undefined;
  /** Whether clicks are tracked; the project's setting at the start by default. */
  track_clicks?: boolean | null | undefined;
  /** Whether opens are tracked; the project's setting at the start by default. */
  track_opens?: boolean | null | undefined;
}

/** What to change; what is not given stays, and null takes it away. */
export interface UpdateCampaignInput {
  /** What the body is written in; HTML unless given. */
  format?: ContentFormat | null | undefined;
  /** The sender, at a domain of the project that is verified when it is sent. */
  from_email?: string | null | undefined;
  /** What the sender is called. */
  from_name?: string | null | undefined;
  /** Groups to send to. */
  group_ids?: string[] | null | undefined;
  /** The body, instead of a template: HTML, or MJML. */
  html?: string | null | undefined;
  /** A new name; 1 to 200 characters. */
  name?: string | null | undefined;
  /** Messages per second at most. This may be changed while the campaign is being sent. */
  rate_per_second?: number | null | undefined;
  /** Reply-to addresses. */
  reply_to?: string | null | undefined;
  /** Segments to send to. */
  segment_ids?: string[] | null | undefined;
  /** At most 998 characters; it may have placeholders such as `{{name|there}}`. */
  subject?: string | null | undefined;
  /** A template that gives the body, as it is when the campaign starts. */
  template_id?: string | null | undefined;
  /** The text part; made from the HTML when not given. */
  text?: string | null | undefined;
  /** Whether clicks are tracked; the project's setting at the start by default. */
  track_clicks?: boolean | null | undefined;
  /** Whether opens are tracked; the project's setting at the start by default. */
  track_opens?: boolean | null | undefined;
  /** The version that this was written on; `conflict` when it is not the newest any more. */
  version?: number | null | undefined;
}

/** When a campaign is to start. */
export interface ScheduleCampaignInput {
  /** An instant in the future, with its offset. */
  scheduled_at: string;
}

/**
 * What became of messages whose outcome was unknown, as a user has found out.
 *
 * - `accepted`: The mail server took them.
 * - `failed`: It did not take them; they can be retried.
 */
export type UnknownOutcome = 'accepted' | 'failed';

/** Who gets a test. */
export interface TestCampaignInput {
  /** The contact that placeholders are filled in for; their defaults otherwise. */
  contact_id?: string | null | undefined;
  /** 1 to 10 addresses. */
  emails: string[];
}

/** A test that goes out. */
export interface TestEmail {
  /** Message id. */
  id: string;
  /** `queued`, or `suppressed`. */
  status: string;
}

/** Something to look at before sending. */
export interface PreflightFinding {
  /** What it is about. */
  field: string;
  /** What it is. */
  message: string;
}

/** Contacts of the audience who get nothing. */
export interface ExcludedContacts {
  /** Why: their suppression status, or `left_group` for those who left the groups it goes to. */
  reason: string;
  /** How many. */
  contacts: number;
}

/** The recipients that a campaign would have now. */
export interface AudienceCount {
  /** Contacts in its groups and segments, each once. */
  contacts: number;
  /** Those of them who would get it. */
  recipients: number;
  /** The others. */
  excluded: ExcludedContacts[];
}

/** A placeholder of the message. */
export interface VariableCheck {
  /** What it names. */
  name: string;
  /** Its default, if each place that names it has one. */
  fallback: string | null;
  /** Recipients for whom it would show nothing. */
  missing: number;
  /** Addresses of a few of them. */
  examples: string[];
}

/** What would happen if a campaign were sent now. */
export interface Preflight {
  /** Whether it could be sent. */
  isReady: boolean;
  /** Whether opens would be tracked. */
  tracksOpens: boolean;
  /** Whether clicks would be tracked. */
  tracksClicks: boolean;
  /** The size of one message, about. */
  messageBytes: number | null;
  /** How long it would take at its rate, the pace of the last campaign, and with the days of a warm-up; null when nothing says it. */
  estimatedSeconds: number | null;
  /** What keeps it from being sent. */
  problems: PreflightFinding[];
  /** What should be looked at first. */
  warnings: PreflightFinding[];
  /** Its recipients. */
  audience: AudienceCount;
  /** Its placeholders. */
  variables: VariableCheck[];
}

/** A new template; it begins as a draft. */
export interface CreateTemplateInput {
  /** HTML of at most 500,000 characters, or MJML of at most 256,000, with placeholders such as `{{name|there}}`. HTML has at most 50,000 elements, nested at most 200 deep. */
  body: string;
  /** What the body is written in; HTML unless given. */
  format?: ContentFormat | null | undefined;
  /** Unique within the project; 1 to 200 characters. */
  name: string;
  /** The subject to start from; placeholders allowed. */
  subject?: string | null | undefined;
}

/** What to change; what is not given stays. */
export interface UpdateTemplateInput {
  /** New HTML, or MJML. */
  body?: string | null | undefined;
  /** What the new body is written in; HTML unless given. */
  format?: ContentFormat | null | undefined;
  /** A new name, unique within the project. */
  name?: string | null | undefined;
  /** A new subject; null removes it. */
  subject?: string | null | undefined;
  /** The number of the version that this was written on; `conflict` when it is not the newest any more. */
  version?: number | null | undefined;
}

/** A new webhook endpoint. */
export interface CreateWebhookEndpointInput {
  /** What it is for; at most 500 characters. */
  description?: string | null | undefined;
  /** Event types, or `["*"]` for all current and future types. */
  events: ('contact.created' | 'contact.updated' | 'contact.subscribed' | 'contact.unsubscribed' | 'contact.deleted' | 'email.sent' | 'email.failed' | 'email.delivered' | 'email.opened' | 'email.clicked' | 'email.bounced' | 'email.complained' | 'email.rejected' | 'campaign.started' | 'campaign.completed' | 'campaign.paused' | 'webhook.test' | '*')[];
  /** An HTTPS URL that is reachable from the Internet. */
  url: string;
}

/** What to change; what is not given stays. */
export interface UpdateWebhookEndpointInput {
  /** What it is for; at most 500 characters. An empty text removes it. */
  description?: string | null | undefined;
  /** Event types, or `["*"]`; replaces those before. */
  events?: ('contact.created' | 'contact.updated' | 'contact.subscribed' | 'contact.unsubscribed' | 'contact.deleted' | 'email.sent' | 'email.failed' | 'email.delivered' | 'email.opened' | 'email.clicked' | 'email.bounced' | 'email.complained' | 'email.rejected' | 'campaign.started' | 'campaign.completed' | 'campaign.paused' | 'webhook.test' | '*')[] | null | undefined;
  /** An HTTPS URL that is reachable from the Internet. */
  url?: string | null | undefined;
}

/**
 * What happens to deliveries that waited while an endpoint was disabled.
 *
 * - `deliver`: They are delivered now.
 * - `drop`: They are failed without another attempt.
 */
export type WebhookBacklog = 'deliver' | 'drop';

/** The test event that was queued. */
export interface SendTestWebhookPayload {
  /** The event. */
  eventId: string;
  /** Its delivery. */
  deliveryId: string;
}

/** Which columns are what, by their names in the file, without regard to case. What is not given is told by the names. */
export interface ImportColumnsInput {
  /** An object of columns by custom-field key; an empty one for none. */
  custom_fields?: Record<string, unknown> | null | undefined;
  /** The column of addresses. */
  email?: string | null | undefined;
  /** The columns that make the name, joined by a space; an empty list for none. */
  name?: string[] | null | undefined;
}

/** How a file of contacts is imported. */
export interface ImportContactsInput {
  /** Which columns are what; told by their names unless given. */
  columns?: ImportColumnsInput | null | undefined;
  /** Columns that are no custom field become one, of the type that their values have. */
  create_fields?: boolean | null | undefined;
  /** Nothing is written; the counts and errors are those of the real import. */
  dry_run?: boolean | null | undefined;
  /** Of the file, such as `windows-1252`; found out unless given. */
  encoding?: string | null | undefined;
  /** What the file is called, for people. */
  file_name?: string | null | undefined;
  /** The group that the contacts join. */
  group_id?: string | null | undefined;
  /** The name of the group that they join, which is made if there is none. */
  group_name?: string | null | undefined;
  /** What happens to contacts that exist; `skip` unless it says. A blank cell changes nothing. */
  on_conflict?: OnConflict | null | undefined;
  /** The character between values, or `tab`; found out unless given. */
  separator?: string | null | undefined;
}

/** A contact is added (manually or by import). */
export interface ContactCreatedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'contact.created';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: ContactCreatedEventData;
}

/** A contact's name, email or group membership changes. */
export interface ContactUpdatedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'contact.updated';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: ContactUpdatedEventData;
}

/** A contact is subscribed or resubscribed. */
export interface ContactSubscribedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'contact.subscribed';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: ContactSubscribedEventData;
}

/** A contact unsubscribes. */
export interface ContactUnsubscribedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'contact.unsubscribed';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: ContactUnsubscribedEventData;
}

/** A contact is deleted. */
export interface ContactDeletedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'contact.deleted';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: ContactDeletedEventData;
}

/** A message is accepted for sending. */
export interface EmailSentEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'email.sent';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: EmailSentEventData;
}

/** A message fails to send. */
export interface EmailFailedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'email.failed';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: EmailFailedEventData;
}

/** The receiving server accepted the message. Amazon SES reports it; a connected mailbox account counts as delivered what it accepts; an SMTP relay reports it only where it offers DSN (RFC 3461) and the sending domain has a return path. */
export interface EmailDeliveredEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'email.delivered';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: EmailDeliveredEventData;
}

/** The recipient opened the message. */
export interface EmailOpenedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'email.opened';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: EmailOpenedEventData;
}

/** The recipient clicked a tracked link. */
export interface EmailClickedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'email.clicked';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: EmailClickedEventData;
}

/** The message bounced. */
export interface EmailBouncedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'email.bounced';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: EmailBouncedEventData;
}

/** The recipient marked it as spam. */
export interface EmailComplainedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'email.complained';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: EmailComplainedEventData;
}

/** The sending provider rejected the message (for example a detected virus). */
export interface EmailRejectedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'email.rejected';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: EmailRejectedEventData;
}

/** A campaign began sending. */
export interface CampaignStartedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'campaign.started';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: CampaignStartedEventData;
}

/** A campaign finished sending to all recipients. */
export interface CampaignCompletedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'campaign.completed';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: CampaignCompletedEventData;
}

/** A campaign was auto-paused (for example by warmup safety). */
export interface CampaignPausedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'campaign.paused';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: CampaignPausedEventData;
}

/** A sample event queued on request for testing. */
export interface WebhookTestEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'webhook.test';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: WebhookTestEventData;
}

/** What a webhook delivers. Types may be added later, so have a branch for those you do not know. */
export type PostroomEvent = ContactCreatedEvent | ContactUpdatedEvent | ContactSubscribedEvent | ContactUnsubscribedEvent | ContactDeletedEvent | EmailSentEvent | EmailFailedEvent | EmailDeliveredEvent | EmailOpenedEvent | EmailClickedEvent | EmailBouncedEvent | EmailComplainedEvent | EmailRejectedEvent | CampaignStartedEvent | CampaignCompletedEvent | CampaignPausedEvent | WebhookTestEvent;

export interface ContactCreatedEventData {
  /** Contact id. */
  contact_id: string;
  /** The address, as it is now. */
  email: string;
  /** What the contact is called. */
  name: string;
}

export interface ContactUpdatedEventData {
  /** Contact id. */
  contact_id: string;
  /** The address, as it is now. */
  email: string;
  /** What the contact is called. */
  name: string;
}

export interface ContactSubscribedEventData {
  /** Contact id. */
  contact_id: string;
  /** The address, as it is now. */
  email: string;
  /** What the contact is called. */
  name: string;
}

export interface ContactUnsubscribedEventData {
  /** Contact id. */
  contact_id: string;
  /** The address, as it is now. */
  email: string;
  /** What the contact is called. */
  name: string;
}

export interface ContactDeletedEventData {
  /** Contact id. */
  contact_id: string;
  /** The address, as it is now. */
  email: string;
  /** What the contact is called. */
  name: string;
}

export interface EmailSentEventData {
  /** The recipient's address. */
  email: string;
  /** Id of the message, the same in every event about it. */
  message_id: string;
  /** The subject, with placeholders filled in. */
  subject: string;
  /** The campaign it belongs to; null for a transactional email. */
  campaign_id: string | null;
  /** The contact it went to; null when the address is no contact. */
  contact_id: string | null;
  /** What the sender gave as `tags`. */
  tags: string[];
  /** What the sender gave as `metadata`, unchanged. */
  metadata: Record<string, unknown>;
}

export interface EmailFailedEventData {
  /** The recipient's address. */
  email: string;
  /** Id of the message, the same in every event about it. */
  message_id: string;
  /** The subject, with placeholders filled in. */
  subject: string;
  /** The campaign it belongs to; null for a transactional email. */
  campaign_id: string | null;
  /** The contact it went to; null when the address is no contact. */
  contact_id: string | null;
  /** What the sender gave as `tags`. */
  tags: string[];
  /** What the sender gave as `metadata`, unchanged. */
  metadata: Record<string, unknown>;
  /** Why, in the words of the server or of Postroom. */
  reason: string;
}

export interface EmailDeliveredEventData {
  /** The recipient's address. */
  email: string;
  /** Id of the message, the same in every event about it. */
  message_id: string;
  /** The subject, with placeholders filled in. */
  subject: string;
  /** The campaign it belongs to; null for a transactional email. */
  campaign_id: string | null;
  /** The contact it went to; null when the address is no contact. */
  contact_id: string | null;
  /** What the sender gave as `tags`. */
  tags: string[];
  /** What the sender gave as `metadata`, unchanged. */
  metadata: Record<string, unknown>;
}

export interface EmailOpenedEventData {
  /** The recipient's address. */
  email: string;
  /** Id of the message, the same in every event about it. */
  message_id: string;
  /** The subject, with placeholders filled in. */
  subject: string;
  /** The campaign it belongs to; null for a transactional email. */
  campaign_id: string | null;
  /** The contact it went to; null when the address is no contact. */
  contact_id: string | null;
  /** What the sender gave as `tags`. */
  tags: string[];
  /** What the sender gave as `metadata`, unchanged. */
  metadata: Record<string, unknown>;
  /** Whether it looks like a program: a prefetcher or a security scanner. */
  machine?: boolean | undefined;
  /** What the program said it is. */
  user_agent?: string | null | undefined;
}

export interface EmailClickedEventData {
  /** The recipient's address. */
  email: string;
  /** Id of the message, the same in every event about it. */
  message_id: string;
  /** The subject, with placeholders filled in. */
  subject: string;
  /** The campaign it belongs to; null for a transactional email. */
  campaign_id: string | null;
  /** The contact it went to; null when the address is no contact. */
  contact_id: string | null;
  /** What the sender gave as `tags`. */
  tags: string[];
  /** What the sender gave as `metadata`, unchanged. */
  metadata: Record<string, unknown>;
  /** Where the link leads. */
  url: string;
  /** Whether it looks like a program: a prefetcher or a security scanner. */
  machine?: boolean | undefined;
  /** What the program said it is. */
  user_agent?: string | null | undefined;
}

export interface EmailBouncedEventData {
  /** The recipient's address. */
  email: string;
  /** Id of the message, the same in every event about it. */
  message_id: string;
  /** The subject, with placeholders filled in. */
  subject: string;
  /** The campaign it belongs to; null for a transactional email. */
  campaign_id: string | null;
  /** The contact it went to; null when the address is no contact. */
  contact_id: string | null;
  /** What the sender gave as `tags`. */
  tags: string[];
  /** What the sender gave as `metadata`, unchanged. */
  metadata: Record<string, unknown>;
  /** Why, in the words of the server or of Postroom. */
  reason: string;
}

export interface EmailComplainedEventData {
  /** The recipient's address. */
  email: string;
  /** Id of the message, the same in every event about it. */
  message_id: string;
  /** The subject, with placeholders filled in. */
  subject: string;
  /** The campaign it belongs to; null for a transactional email. */
  campaign_id: string | null;
  /** The contact it went to; null when the address is no contact. */
  contact_id: string | null;
  /** What the sender gave as `tags`. */
  tags: string[];
  /** What the sender gave as `metadata`, unchanged. */
  metadata: Record<string, unknown>;
}

export interface EmailRejectedEventData {
  /** The recipient's address. */
  email: string;
  /** Id of the message, the same in every event about it. */
  message_id: string;
  /** The subject, with placeholders filled in. */
  subject: string;
  /** The campaign it belongs to; null for a transactional email. */
  campaign_id: string | null;
  /** The contact it went to; null when the address is no contact. */
  contact_id: string | null;
  /** What the sender gave as `tags`. */
  tags: string[];
  /** What the sender gave as `metadata`, unchanged. */
  metadata: Record<string, unknown>;
  /** Why, in the words of the server or of Postroom. */
  reason: string;
}

export interface CampaignStartedEventData {
  /** Campaign id. */
  campaign_id: string;
  /** The campaign's name. */
  name: string;
  /** How many people it goes to. */
  recipients: number;
}

export interface CampaignCompletedEventData {
  /** Campaign id. */
  campaign_id: string;
  /** The campaign's name. */
  name: string;
  /** Messages that were accepted for sending. */
  sent: number;
  /** Of those, how many receiving servers had accepted by then, as far as that is reported. */
  delivered: number;
  /** Messages that failed to send. */
  failed: number;
}

export interface CampaignPausedEventData {
  /** Campaign id. */
  campaign_id: string;
  /** The campaign's name. */
  name: string;
  /** Why, in the words of the server or of Postroom. */
  reason: string;
}

export interface WebhookTestEventData {
  /** The endpoint under test; it alone gets the event. */
  endpoint_id: string;
  /** A greeting. */
  message: string;
}

export interface ProjectListResponse {
  data: Project[];
}

export interface QueuedEmailResponse {
  data: QueuedEmail;
}

export interface EmailListResponse {
  data: Email[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** What to give as `cursor` for the next page; null on the last one. */
  next_cursor: string | null;
  /** How many there are in all; 100000 means that many or more. Only if `total=true` asked for it. */
  total?: number | undefined;
}

export interface QueuedEmailListResponse {
  data: QueuedEmail[];
}

export interface EmailDetailResponse {
  data: EmailDetail;
}

export interface ContactListResponse {
  data: Contact[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** What to give as `cursor` for the next page; null on the last one. */
  next_cursor: string | null;
  /** How many there are in all; 100000 means that many or more. Only if `total=true` asked for it. */
  total?: number | undefined;
}

export interface ContactResponse {
  data: Contact;
}

export interface CreateContactsResultDataError {
  /** Its path in the contact, such as `email` or `customFields.plan`. */
  field: string;
  /** What is wrong with it. */
  message: string;
}

export interface CreateContactsResultData {
  /** Its place in the request, from 0. */
  index: number;
  /** What became of it. */
  status: BatchContactStatus;
  /** Contact id; null for an error. */
  id: string | null;
  error?: CreateContactsResultDataError | undefined;
}

export interface CreateContactsResult {
  data: CreateContactsResultData[];
}

export interface DeletedResponse {
  /** Always true: it is deleted. */
  deleted: boolean;
}

export interface CustomFieldListResponse {
  data: CustomField[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** What to give as `cursor` for the next page; null on the last one. */
  next_cursor: string | null;
  /** How many there are in all; 100000 means that many or more. Only if `total=true` asked for it. */
  total?: number | undefined;
}

export interface CustomFieldResponse {
  data: CustomField;
}

export interface SuppressionListResponse {
  data: Suppression[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** What to give as `cursor` for the next page; null on the last one. */
  next_cursor: string | null;
  /** How many there are in all; 100000 means that many or more. Only if `total=true` asked for it. */
  total?: number | undefined;
}

export interface SuppressionResponse {
  data: Suppression;
}

export interface SegmentListResponse {
  data: Segment[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** What to give as `cursor` for the next page; null on the last one. */
  next_cursor: string | null;
  /** How many there are in all; 100000 means that many or more. Only if `total=true` asked for it. */
  total?: number | undefined;
}

export interface SegmentResponse {
  data: Segment;
}

export interface GetSegmentPreviewInput {
  /** A condition `{field, op, value}`, or filters put together by `and`, `or`, `not`; see the page on segments. */
  filter: Record<string, unknown>;
}

export interface SegmentPreviewResponse {
  data: SegmentPreview;
}

export interface SegmentDetailResponse {
  data: SegmentDetail;
}

export interface GetPersonDataResult {
  data: unknown;
}

export interface PersonErasedResponse {
  data: PersonErased;
}

export interface GroupListResponse {
  data: Group[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** What to give as `cursor` for the next page; null on the last one. */
  next_cursor: string | null;
  /** How many there are in all; 100000 means that many or more. Only if `total=true` asked for it. */
  total?: number | undefined;
}

export interface GroupResponse {
  data: Group;
}

export interface GroupDetailResponse {
  data: GroupDetail;
}

export interface AddContactsToGroupResult {
  data: GroupDetail;
  /** How many of the given contacts exist. */
  matched: number;
}

export interface GroupSummaryListResponse {
  data: GroupSummary[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** What to give as `cursor` for the next page; null on the last one. */
  next_cursor: string | null;
  /** How many there are in all; 100000 means that many or more. Only if `total=true` asked for it. */
  total?: number | undefined;
}

export interface ImportListResponse {
  data: Import[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** What to give as `cursor` for the next page; null on the last one. */
  next_cursor: string | null;
  /** How many there are in all; 100000 means that many or more. Only if `total=true` asked for it. */
  total?: number | undefined;
}

export interface ImportContactsForm {
  /** The file. */
  file: Blob;
  options?: ImportContactsInput | undefined;
}

export interface ImportContactsResultData {
  /** Import id. */
  id: string;
  /** It begins as soon as a worker takes it up. */
  status: 'queued';
}

export interface ImportContactsResult {
  data: ImportContactsResultData;
}

export interface ImportResponse {
  data: Import;
}

export interface CampaignListResponse {
  data: Campaign[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** What to give as `cursor` for the next page; null on the last one. */
  next_cursor: string | null;
  /** How many there are in all; 100000 means that many or more. Only if `total=true` asked for it. */
  total?: number | undefined;
}

export interface CampaignDetailResponse {
  data: CampaignDetail;
}

export interface SendCampaignResultData {
  /** Campaign id; its workflow in Temporal has the same. */
  id: string;
  status: 'sending';
}

export interface SendCampaignResult {
  data: SendCampaignResultData;
}

export interface RetryCampaignRecipientsInput {
  /** Message ids of at most 10,000 of its recipients; all in that state when not given. */
  recipient_ids?: string[] | null | undefined;
}

export interface RetryCampaignRecipientsResult {
  data: CampaignDetail;
  /** How many recipients it was about. */
  recipients: number;
}

export interface ResendCampaignRecipientsInput {
  /** True, to say that it is known that some may get it twice. */
  accept_duplicates: boolean;
  /** Message ids of at most 10,000 of its recipients; all in that state when not given. */
  recipient_ids?: string[] | null | undefined;
}

export interface ResendCampaignRecipientsResult {
  data: CampaignDetail;
  /** How many recipients it was about. */
  recipients: number;
}

export interface ResolveCampaignRecipientsInput {
  /** What became of them. */
  outcome: UnknownOutcome;
  /** Message ids of at most 10,000 of its recipients; all in that state when not given. */
  recipient_ids?: string[] | null | undefined;
}

export interface ResolveCampaignRecipientsResult {
  data: CampaignDetail;
  /** How many recipients it was about. */
  recipients: number;
}

export interface TestEmailListResponse {
  data: TestEmail[];
}

export interface PreflightResponse {
  data: Preflight;
}

export interface CampaignRecipientListResponse {
  data: CampaignRecipient[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** What to give as `cursor` for the next page; null on the last one. */
  next_cursor: string | null;
  /** How many there are in all; 100000 means that many or more. Only if `total=true` asked for it. */
  total?: number | undefined;
}

export interface CampaignLinkListResponse {
  data: CampaignLink[];
}

export interface TemplateListResponse {
  data: Template[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** What to give as `cursor` for the next page; null on the last one. */
  next_cursor: string | null;
  /** How many there are in all; 100000 means that many or more. Only if `total=true` asked for it. */
  total?: number | undefined;
}

export interface TemplateResponse {
  data: Template;
}

export interface TemplateVersionListResponse {
  data: TemplateVersion[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** What to give as `cursor` for the next page; null on the last one. */
  next_cursor: string | null;
  /** How many there are in all; 100000 means that many or more. Only if `total=true` asked for it. */
  total?: number | undefined;
}

export interface TemplateVersionResponse {
  data: TemplateVersion;
}

export interface DomainListResponse {
  data: Domain[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** What to give as `cursor` for the next page; null on the last one. */
  next_cursor: string | null;
  /** How many there are in all; 100000 means that many or more. Only if `total=true` asked for it. */
  total?: number | undefined;
}

export interface DomainDetailResponse {
  data: DomainDetail;
}

export interface WebhookEndpointListResponse {
  data: WebhookEndpoint[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** What to give as `cursor` for the next page; null on the last one. */
  next_cursor: string | null;
  /** How many there are in all; 100000 means that many or more. Only if `total=true` asked for it. */
  total?: number | undefined;
}

export type CreateWebhookEndpointResultData = WebhookEndpoint & {
  /** What signatures are keyed by; it starts with `whsec_`. */
  secret: string;
};

export interface CreateWebhookEndpointResult {
  data: CreateWebhookEndpointResultData;
}

export interface WebhookEndpointResponse {
  data: WebhookEndpoint;
}

export interface EnableWebhookEndpointInput {
  /** What happens to deliveries that waited. */
  backlog?: WebhookBacklog | null | undefined;
}

export interface SendTestWebhookPayloadResponse {
  data: SendTestWebhookPayload;
}

export interface ReplayFailedWebhookDeliveriesInput {
  /** Those that failed at this time or later. */
  since: string;
}

export interface ReplayFailedWebhookDeliveriesResultData {
  /** How many deliveries were queued again. */
  replayed: number;
}

export interface ReplayFailedWebhookDeliveriesResult {
  data: ReplayFailedWebhookDeliveriesResultData;
}

export interface WebhookDeliveryListResponse {
  data: WebhookDelivery[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** What to give as `cursor` for the next page; null on the last one. */
  next_cursor: string | null;
  /** How many there are in all; 100000 means that many or more. Only if `total=true` asked for it. */
  total?: number | undefined;
}

export interface WebhookDeliveryDetailResponse {
  data: WebhookDeliveryDetail;
}

export interface WebhookDeliveryResponse {
  data: WebhookDelivery;
}

/** What each operation of the API takes and answers with, by its `operationId`. */
export interface Operations {
  /** List the projects the key can act on */
  listProjects: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: ProjectListResponse;
  };
  /** Send a transactional email */
  sendEmail: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: SendEmailInput;
    reply: QueuedEmailResponse;
  };
  /** List transactional emails, or the messages of a campaign, newest first */
  listEmails: {
    path: Record<never, never>;
    query: {
      /** How many to return at most. */
      limit?: number | undefined;
      /** The `next_cursor` of the page before. */
      cursor?: string | undefined;
      /** Whether `total` says how many there are in all. They are counted up to 100000. */
      total?: boolean | undefined;
      /** Only those that are there. */
      status?: EmailStatus | undefined;
      /** Only those to this address, without regard to case. */
      to?: string | undefined;
      /** Only those with this tag. */
      tag?: string | undefined;
      /** The messages of this campaign instead of transactional mail. */
      campaign_id?: string | undefined;
      /** Taken after this instant. */
      created_after?: string | undefined;
      /** Taken before this instant. */
      created_before?: string | undefined;
    };
    body: undefined;
    reply: EmailListResponse;
  };
  /** Send up to 100 transactional emails, all or none */
  sendEmails: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: SendEmailsInput;
    reply: QueuedEmailListResponse;
  };
  /** Retrieve an email and what has happened to it */
  getEmail: {
    path: {
      /** Message id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: EmailDetailResponse;
  };
  /** Reschedule a scheduled email */
  rescheduleEmail: {
    path: {
      /** Message id. */
      id: string;
    };
    query: Record<never, never>;
    body: RescheduleEmailInput;
    reply: EmailDetailResponse;
  };
  /** Stop what has not gone out of an email */
  cancelEmail: {
    path: {
      /** Message id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: EmailDetailResponse;
  };
  /** List contacts, newest first */
  listContacts: {
    path: Record<never, never>;
    query: {
      /** How many to return at most. */
      limit?: number | undefined;
      /** The `next_cursor` of the page before. */
      cursor?: string | undefined;
      /** Whether `total` says how many there are in all. They are counted up to 100000. */
      total?: boolean | undefined;
      /** The whole address, without regard to case. */
      email?: string | undefined;
      /** Part of the address or of the name, without regard to case; one or two letters begin a word of it. */
      search?: string | undefined;
      /** Members of this group. */
      group_id?: string | undefined;
      /** Contacts in this segment. */
      segment_id?: string | undefined;
      /** True for those that are not mailed, false for the others. */
      suppressed?: boolean | undefined;
      /** Where they came from. */
      source?: ContactSource | undefined;
      /** Added after this instant. */
      created_after?: string | undefined;
      /** Added before this instant. */
      created_before?: string | undefined;
    };
    body: undefined;
    reply: ContactListResponse;
  };
  /** Create a contact, or find the one that has the address */
  createContact: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: CreateContactInput;
    reply: ContactResponse;
  };
  /** Create up to 1,000 contacts, each with its own result */
  createContacts: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: CreateContactsBatchInput;
    reply: CreateContactsResult;
  };
  /** Retrieve a contact */
  getContact: {
    path: {
      /** Contact id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: ContactResponse;
  };
  /** Change a contact, unsubscribe or resubscribe it */
  updateContact: {
    path: {
      /** Contact id. */
      id: string;
    };
    query: Record<never, never>;
    body: UpdateContactInput;
    reply: ContactResponse;
  };
  /** Delete a contact for good */
  deleteContact: {
    path: {
      /** Contact id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: DeletedResponse;
  };
  /** List the custom-field schema, newest field first */
  listCustomFields: {
    path: Record<never, never>;
    query: {
      /** How many to return at most. */
      limit?: number | undefined;
      /** The `next_cursor` of the page before. */
      cursor?: string | undefined;
      /** Whether `total` says how many there are in all. They are counted up to 100000. */
      total?: boolean | undefined;
    };
    body: undefined;
    reply: CustomFieldListResponse;
  };
  /** Add a custom field */
  createCustomField: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: CreateCustomFieldInput;
    reply: CustomFieldResponse;
  };
  /** Retrieve a custom field */
  getCustomField: {
    path: {
      /** Custom field id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: CustomFieldResponse;
  };
  /** Change the label or the options of a custom field */
  updateCustomField: {
    path: {
      /** Custom field id. */
      id: string;
    };
    query: Record<never, never>;
    body: UpdateCustomFieldInput;
    reply: CustomFieldResponse;
  };
  /** Remove a custom field and its values */
  deleteCustomField: {
    path: {
      /** Custom field id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: DeletedResponse;
  };
  /** List suppressions, newest first */
  listSuppressions: {
    path: Record<never, never>;
    query: {
      /** How many to return at most. */
      limit?: number | undefined;
      /** The `next_cursor` of the page before. */
      cursor?: string | undefined;
      /** Whether `total` says how many there are in all. They are counted up to 100000. */
      total?: boolean | undefined;
      /** Those of this address, without regard to case. */
      email?: string | undefined;
      /** Those for this reason. */
      reason?: SuppressionReason | undefined;
    };
    body: undefined;
    reply: SuppressionListResponse;
  };
  /** Keep an address from being mailed */
  addSuppression: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: AddSuppressionInput;
    reply: SuppressionResponse;
  };
  /** Retrieve a suppression */
  getSuppression: {
    path: {
      /** Suppression id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: SuppressionResponse;
  };
  /** Remove a reason not to mail an address */
  removeSuppression: {
    path: {
      /** Suppression id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: DeletedResponse;
  };
  /** List segments, newest first */
  listSegments: {
    path: Record<never, never>;
    query: {
      /** How many to return at most. */
      limit?: number | undefined;
      /** The `next_cursor` of the page before. */
      cursor?: string | undefined;
      /** Whether `total` says how many there are in all. They are counted up to 100000. */
      total?: boolean | undefined;
    };
    body: undefined;
    reply: SegmentListResponse;
  };
  /** Save a filter over contacts */
  createSegment: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: CreateSegmentInput;
    reply: SegmentResponse;
  };
  /** Try a filter without saving it: how many contacts, and the ten newest */
  getSegmentPreview: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: GetSegmentPreviewInput;
    reply: SegmentPreviewResponse;
  };
  /** Retrieve a segment and how many contacts are in it */
  getSegment: {
    path: {
      /** Segment id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: SegmentDetailResponse;
  };
  /** Rename a segment or replace its filter */
  updateSegment: {
    path: {
      /** Segment id. */
      id: string;
    };
    query: Record<never, never>;
    body: UpdateSegmentInput;
    reply: SegmentResponse;
  };
  /** Delete a segment; its contacts stay */
  deleteSegment: {
    path: {
      /** Segment id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: DeletedResponse;
  };
  /** List the contacts in a segment now, newest first */
  listSegmentContacts: {
    path: {
      /** Segment id. */
      id: string;
    };
    query: {
      /** How many to return at most. */
      limit?: number | undefined;
      /** The `next_cursor` of the page before. */
      cursor?: string | undefined;
      /** Whether `total` says how many there are in all. They are counted up to 100000. */
      total?: boolean | undefined;
    };
    body: undefined;
    reply: ContactListResponse;
  };
  /** Retrieve everything that is kept of a person */
  getPersonData: {
    path: {
      /** Contact id; or else the address. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: GetPersonDataResult;
  };
  /** Erase a person: of the address only a hash is kept */
  erasePerson: {
    path: {
      /** Contact id; or else the address. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: PersonErasedResponse;
  };
  /** List groups, newest first */
  listGroups: {
    path: Record<never, never>;
    query: {
      /** How many to return at most. */
      limit?: number | undefined;
      /** The `next_cursor` of the page before. */
      cursor?: string | undefined;
      /** Whether `total` says how many there are in all. They are counted up to 100000. */
      total?: boolean | undefined;
    };
    body: undefined;
    reply: GroupListResponse;
  };
  /** Create a group of existing contacts */
  createGroup: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: CreateGroupInput;
    reply: GroupResponse;
  };
  /** Retrieve a group and its members that still exist */
  getGroup: {
    path: {
      /** Group id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: GroupDetailResponse;
  };
  /** Rename a group or replace its members */
  updateGroup: {
    path: {
      /** Group id. */
      id: string;
    };
    query: Record<never, never>;
    body: UpdateGroupInput;
    reply: GroupResponse;
  };
  /** Delete a group; its contacts stay */
  deleteGroup: {
    path: {
      /** Group id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: DeletedResponse;
  };
  /** Add contacts to a group */
  addContactsToGroup: {
    path: {
      /** Group id. */
      id: string;
    };
    query: Record<never, never>;
    body: AddContactsInput;
    reply: AddContactsToGroupResult;
  };
  /** Remove a contact from a group; the contact stays */
  removeContactFromGroup: {
    path: {
      /** Group id. */
      id: string;
      /** Contact ids; those that are not members are ignored. */
      contact_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: DeletedResponse;
  };
  /** List the groups that a contact is in, newest first */
  listContactGroups: {
    path: {
      /** Contact id: only the groups that this contact is in. */
      id: string;
    };
    query: {
      /** How many to return at most. */
      limit?: number | undefined;
      /** The `next_cursor` of the page before. */
      cursor?: string | undefined;
      /** Whether `total` says how many there are in all. They are counted up to 100000. */
      total?: boolean | undefined;
    };
    body: undefined;
    reply: GroupSummaryListResponse;
  };
  /** List imports, newest first */
  listImports: {
    path: Record<never, never>;
    query: {
      /** How many to return at most. */
      limit?: number | undefined;
      /** The `next_cursor` of the page before. */
      cursor?: string | undefined;
      /** Whether `total` says how many there are in all. They are counted up to 100000. */
      total?: boolean | undefined;
    };
    body: undefined;
    reply: ImportListResponse;
  };
  /** Import a CSV file of contacts */
  importContacts: {
    path: Record<never, never>;
    query: {
      /** Which columns are what; told by their names unless given. An object, written as JSON. */
      columns?: ImportColumnsInput | undefined;
      /** Columns that are no custom field become one, of the type that their values have. */
      create_fields?: boolean | undefined;
      /** Nothing is written; the counts and errors are those of the real import. */
      dry_run?: boolean | undefined;
      /** Of the file, such as `windows-1252`; found out unless given. */
      encoding?: string | undefined;
      /** What the file is called, for people. */
      file_name?: string | undefined;
      /** The group that the contacts join. */
      group_id?: string | undefined;
      /** The name of the group that they join, which is made if there is none. */
      group_name?: string | undefined;
      /** What happens to contacts that exist; `skip` unless it says. A blank cell changes nothing. */
      on_conflict?: OnConflict | undefined;
      /** The character between values, or `tab`; found out unless given. */
      separator?: string | undefined;
    };
    body: FormData;
    reply: ImportContactsResult;
  };
  /** Retrieve an import and how far it is */
  getImport: {
    path: {
      /** Import id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: ImportResponse;
  };
  /** Cancel an import; what is written stays */
  cancelImport: {
    path: {
      /** Import id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: ImportResponse;
  };
  /** List campaigns with status and engagement summary, newest first */
  listCampaigns: {
    path: Record<never, never>;
    query: {
      /** How many to return at most. */
      limit?: number | undefined;
      /** The `next_cursor` of the page before. */
      cursor?: string | undefined;
      /** Whether `total` says how many there are in all. They are counted up to 100000. */
      total?: boolean | undefined;
      /** Only those that are there. */
      status?: CampaignStatus | undefined;
    };
    body: undefined;
    reply: CampaignListResponse;
  };
  /** Create a draft */
  createCampaign: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: CreateCampaignInput;
    reply: CampaignDetailResponse;
  };
  /** Retrieve a campaign */
  getCampaign: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: CampaignDetailResponse;
  };
  /** Change a draft or scheduled campaign, or the rate of one that is being sent */
  updateCampaign: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: UpdateCampaignInput;
    reply: CampaignDetailResponse;
  };
  /** Delete a draft */
  deleteCampaign: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: DeletedResponse;
  };
  /** Start a campaign now; its messages go out in the background */
  sendCampaign: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: SendCampaignResult;
  };
  /** Schedule or reschedule a campaign */
  scheduleCampaign: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: ScheduleCampaignInput;
    reply: CampaignDetailResponse;
  };
  /** Make a scheduled campaign a draft again */
  unscheduleCampaign: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: CampaignDetailResponse;
  };
  /** Pause a campaign that is being sent */
  pauseCampaign: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: CampaignDetailResponse;
  };
  /** Resume a paused campaign */
  resumeCampaign: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: CampaignDetailResponse;
  };
  /** Let campaigns be sent from a domain again that a completed campaign blocks by its bounces or complaints */
  acknowledgeCampaign: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: CampaignDetailResponse;
  };
  /** Send again to recipients who were refused; a completed campaign goes on */
  retryCampaignRecipients: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: RetryCampaignRecipientsInput;
    reply: RetryCampaignRecipientsResult;
  };
  /** Send again to recipients whose outcome is unknown; some may get it twice */
  resendCampaignRecipients: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: ResendCampaignRecipientsInput;
    reply: ResendCampaignRecipientsResult;
  };
  /** Say what became of recipients whose outcome is unknown; nothing is sent */
  resolveCampaignRecipients: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: ResolveCampaignRecipientsInput;
    reply: ResolveCampaignRecipientsResult;
  };
  /** End a campaign; what has not gone out never will */
  cancelCampaign: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: CampaignDetailResponse;
  };
  /** Send a campaign as it is now to a few addresses */
  testCampaign: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: TestCampaignInput;
    reply: TestEmailListResponse;
  };
  /** What would happen if the campaign were sent now; changes nothing */
  getCampaignPreflight: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: PreflightResponse;
  };
  /** List the recipients of a campaign by state */
  listCampaignRecipients: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: {
      /** How many to return at most. */
      limit?: number | undefined;
      /** The `next_cursor` of the page before. */
      cursor?: string | undefined;
      /** Whether `total` says how many there are in all. They are counted up to 100000. */
      total?: boolean | undefined;
      /** Only those in this state. */
      state?: RecipientState | undefined;
      /** Only this address, without regard to case. */
      email?: string | undefined;
    };
    body: undefined;
    reply: CampaignRecipientListResponse;
  };
  /** The tracked links of a campaign, with clicks by people and by programs */
  listCampaignLinks: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: CampaignLinkListResponse;
  };
  /** List templates, newest first */
  listTemplates: {
    path: Record<never, never>;
    query: {
      /** How many to return at most. */
      limit?: number | undefined;
      /** The `next_cursor` of the page before. */
      cursor?: string | undefined;
      /** Whether `total` says how many there are in all. They are counted up to 100000. */
      total?: boolean | undefined;
    };
    body: undefined;
    reply: TemplateListResponse;
  };
  /** Create a template as a draft */
  createTemplate: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: CreateTemplateInput;
    reply: TemplateResponse;
  };
  /** Retrieve a template */
  getTemplate: {
    path: {
      /** Template id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: TemplateResponse;
  };
  /** Change a template */
  updateTemplate: {
    path: {
      /** Template id. */
      id: string;
    };
    query: Record<never, never>;
    body: UpdateTemplateInput;
    reply: TemplateResponse;
  };
  /** Delete a template */
  deleteTemplate: {
    path: {
      /** Template id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: DeletedResponse;
  };
  /** Publish a template */
  publishTemplate: {
    path: {
      /** Template id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: TemplateResponse;
  };
  /** List the versions of a template, newest first */
  listTemplateVersions: {
    path: {
      /** Template id. */
      id: string;
    };
    query: {
      /** How many to return at most. */
      limit?: number | undefined;
      /** The `next_cursor` of the page before. */
      cursor?: string | undefined;
      /** Whether `total` says how many there are in all. They are counted up to 100000. */
      total?: boolean | undefined;
    };
    body: undefined;
    reply: TemplateVersionListResponse;
  };
  /** Retrieve a version of a template */
  getTemplateVersion: {
    path: {
      /** Template id. */
      id: string;
      /** Version id. */
      version_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: TemplateVersionResponse;
  };
  /** Make a template say again what it said in a version, as a new version */
  restoreTemplateVersion: {
    path: {
      /** Template id. */
      id: string;
      /** Version id. */
      version_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: TemplateResponse;
  };
  /** List the sending domains of a project */
  listDomains: {
    path: {
      /** Project id. */
      id: string;
    };
    query: {
      /** How many to return at most. */
      limit?: number | undefined;
      /** The `next_cursor` of the page before. */
      cursor?: string | undefined;
      /** Whether `total` says how many there are in all. They are counted up to 100000. */
      total?: boolean | undefined;
    };
    body: undefined;
    reply: DomainListResponse;
  };
  /** Retrieve a sending domain */
  getDomain: {
    path: {
      /** Project id. */
      id: string;
      /** Domain name. */
      domain: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: DomainDetailResponse;
  };
  /** List webhook endpoints, newest first */
  listWebhookEndpoints: {
    path: Record<never, never>;
    query: {
      /** How many to return at most. */
      limit?: number | undefined;
      /** The `next_cursor` of the page before. */
      cursor?: string | undefined;
      /** Whether `total` says how many there are in all. They are counted up to 100000. */
      total?: boolean | undefined;
    };
    body: undefined;
    reply: WebhookEndpointListResponse;
  };
  /** Register a webhook endpoint; its signing secret is shown this once */
  createWebhookEndpoint: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: CreateWebhookEndpointInput;
    reply: CreateWebhookEndpointResult;
  };
  /** Retrieve a webhook endpoint */
  getWebhookEndpoint: {
    path: {
      /** Endpoint id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: WebhookEndpointResponse;
  };
  /** Change where events go or which */
  updateWebhookEndpoint: {
    path: {
      /** Endpoint id. */
      id: string;
    };
    query: Record<never, never>;
    body: UpdateWebhookEndpointInput;
    reply: WebhookEndpointResponse;
  };
  /** Delete a webhook endpoint and its deliveries */
  deleteWebhookEndpoint: {
    path: {
      /** Endpoint id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: DeletedResponse;
  };
  /** Send events to an endpoint again, unless it was disabled automatically */
  enableWebhookEndpoint: {
    path: {
      /** Endpoint id. */
      id: string;
    };
    query: Record<never, never>;
    body: EnableWebhookEndpointInput;
    reply: WebhookEndpointResponse;
  };
  /** Stop deliveries to an endpoint and keep those that wait */
  disableWebhookEndpoint: {
    path: {
      /** Endpoint id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: WebhookEndpointResponse;
  };
  /** Queue a webhook.test event for an endpoint */
  sendTestWebhook: {
    path: {
      /** Endpoint id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: SendTestWebhookPayloadResponse;
  };
  /** Deliver once more what failed at an endpoint since a time */
  replayFailedWebhookDeliveries: {
    path: {
      /** Endpoint id. */
      id: string;
    };
    query: Record<never, never>;
    body: ReplayFailedWebhookDeliveriesInput;
    reply: ReplayFailedWebhookDeliveriesResult;
  };
  /** List the deliveries to an endpoint, newest first */
  listWebhookDeliveries: {
    path: {
      /** Only those to this endpoint. */
      id: string;
    };
    query: {
      /** How many to return at most. */
      limit?: number | undefined;
      /** The `next_cursor` of the page before. */
      cursor?: string | undefined;
      /** Whether `total` says how many there are in all. They are counted up to 100000. */
      total?: boolean | undefined;
      /** Only those in this state. */
      state?: DeliveryState | undefined;
      /** Only those of events of this type. */
      event_type?: string | undefined;
    };
    body: undefined;
    reply: WebhookDeliveryListResponse;
  };
  /** List the project's deliveries, newest first */
  listDeliveries: {
    path: Record<never, never>;
    query: {
      /** How many to return at most. */
      limit?: number | undefined;
      /** The `next_cursor` of the page before. */
      cursor?: string | undefined;
      /** Whether `total` says how many there are in all. They are counted up to 100000. */
      total?: boolean | undefined;
      /** Only those in this state. */
      state?: DeliveryState | undefined;
      /** Only those of this event. */
      event_id?: string | undefined;
      /** Only those of events of this type. */
      event_type?: string | undefined;
    };
    body: undefined;
    reply: WebhookDeliveryListResponse;
  };
  /** Retrieve a delivery with its event and every attempt */
  getWebhookDelivery: {
    path: {
      /** Delivery id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: WebhookDeliveryDetailResponse;
  };
  /** Make the next attempt of a delivery now instead of when it is due */
  retryWebhookDelivery: {
    path: {
      /** A delivery in state `retried`. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: WebhookDeliveryResponse;
  };
  /** Deliver an event once more, as a new delivery */
  replayWebhookDelivery: {
    path: {
      /** A delivery that is acknowledged or failed. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: WebhookDeliveryResponse;
  };
  /** Download what is wrong with the rows of an import */
  downloadImportErrors: {
    path: {
      /** The id of the row. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: ReadableStream<Uint8Array>;
  };
  /** Export contacts as a CSV file, newest first */
  exportContacts: {
    path: Record<never, never>;
    query: {
      /** The file begins with a byte order mark, by which Excel knows that it is in UTF-8. */
      bom?: boolean | undefined;
      /** Added after this instant. */
      created_after?: string | undefined;
      /** Added before this instant. */
      created_before?: string | undefined;
      /** The whole address, without regard to case. */
      email?: string | undefined;
      /** Members of this group. */
      group_id?: string | undefined;
      /** Values as they are. Otherwise those that a spreadsheet would run as a formula begin with a `'`. */
      raw?: boolean | undefined;
      /** Part of the address or of the name, without regard to case. */
      search?: string | undefined;
      /** Contacts in this segment. */
      segment_id?: string | undefined;
      /** Where they came from. */
      source?: ContactSource | undefined;
      /** True for those that are not mailed, false for the others. */
      suppressed?: boolean | undefined;
    };
    body: undefined;
    reply: ReadableStream<Uint8Array>;
  };
}

/** The method and path of each operation. */
export const OPERATIONS = {
  listProjects: 'GET /v1/projects',
  sendEmail: 'POST /v1/emails',
  listEmails: 'GET /v1/emails',
  sendEmails: 'POST /v1/emails/batch',
  getEmail: 'GET /v1/emails/{id}',
  rescheduleEmail: 'PATCH /v1/emails/{id}',
  cancelEmail: 'POST /v1/emails/{id}/cancel',
  listContacts: 'GET /v1/contacts',
  createContact: 'POST /v1/contacts',
  createContacts: 'POST /v1/contacts/batch',
  getContact: 'GET /v1/contacts/{id}',
  updateContact: 'PATCH /v1/contacts/{id}',
  deleteContact: 'DELETE /v1/contacts/{id}',
  listCustomFields: 'GET /v1/custom-fields',
  createCustomField: 'POST /v1/custom-fields',
  getCustomField: 'GET /v1/custom-fields/{id}',
  updateCustomField: 'PATCH /v1/custom-fields/{id}',
  deleteCustomField: 'DELETE /v1/custom-fields/{id}',
  listSuppressions: 'GET /v1/suppressions',
  addSuppression: 'POST /v1/suppressions',
  getSuppression: 'GET /v1/suppressions/{id}',
  removeSuppression: 'DELETE /v1/suppressions/{id}',
  listSegments: 'GET /v1/segments',
  createSegment: 'POST /v1/segments',
  getSegmentPreview: 'POST /v1/segments/preview',
  getSegment: 'GET /v1/segments/{id}',
  updateSegment: 'PATCH /v1/segments/{id}',
  deleteSegment: 'DELETE /v1/segments/{id}',
  listSegmentContacts: 'GET /v1/segments/{id}/contacts',
  getPersonData: 'GET /v1/contacts/{id}/data',
  erasePerson: 'POST /v1/contacts/{id}/erase',
  listGroups: 'GET /v1/groups',
  createGroup: 'POST /v1/groups',
  getGroup: 'GET /v1/groups/{id}',
  updateGroup: 'PATCH /v1/groups/{id}',
  deleteGroup: 'DELETE /v1/groups/{id}',
  addContactsToGroup: 'POST /v1/groups/{id}/contacts',
  removeContactFromGroup: 'DELETE /v1/groups/{id}/contacts/{contact_id}',
  listContactGroups: 'GET /v1/contacts/{id}/groups',
  listImports: 'GET /v1/imports',
  importContacts: 'POST /v1/imports',
  getImport: 'GET /v1/imports/{id}',
  cancelImport: 'POST /v1/imports/{id}/cancel',
  listCampaigns: 'GET /v1/campaigns',
  createCampaign: 'POST /v1/campaigns',
  getCampaign: 'GET /v1/campaigns/{id}',
  updateCampaign: 'PATCH /v1/campaigns/{id}',
  deleteCampaign: 'DELETE /v1/campaigns/{id}',
  sendCampaign: 'POST /v1/campaigns/{id}/send',
  scheduleCampaign: 'POST /v1/campaigns/{id}/schedule',
  unscheduleCampaign: 'POST /v1/campaigns/{id}/unschedule',
  pauseCampaign: 'POST /v1/campaigns/{id}/pause',
  resumeCampaign: 'POST /v1/campaigns/{id}/resume',
  acknowledgeCampaign: 'POST /v1/campaigns/{id}/acknowledge',
  retryCampaignRecipients: 'POST /v1/campaigns/{id}/recipients/retry',
  resendCampaignRecipients: 'POST /v1/campaigns/{id}/recipients/resend',
  resolveCampaignRecipients: 'POST /v1/campaigns/{id}/recipients/resolve',
  cancelCampaign: 'POST /v1/campaigns/{id}/cancel',
  testCampaign: 'POST /v1/campaigns/{id}/test',
  getCampaignPreflight: 'POST /v1/campaigns/{id}/preflight',
  listCampaignRecipients: 'GET /v1/campaigns/{id}/recipients',
  listCampaignLinks: 'GET /v1/campaigns/{id}/links',
  listTemplates: 'GET /v1/templates',
  createTemplate: 'POST /v1/templates',
  getTemplate: 'GET /v1/templates/{id}',
  updateTemplate: 'PATCH /v1/templates/{id}',
  deleteTemplate: 'DELETE /v1/templates/{id}',
  publishTemplate: 'POST /v1/templates/{id}/publish',
  listTemplateVersions: 'GET /v1/templates/{id}/versions',
  getTemplateVersion: 'GET /v1/templates/{id}/versions/{version_id}',
  restoreTemplateVersion: 'POST /v1/templates/{id}/versions/{version_id}/restore',
  listDomains: 'GET /v1/projects/{id}/domains',
  getDomain: 'GET /v1/projects/{id}/domains/{domain}',
  listWebhookEndpoints: 'GET /v1/webhooks',
  createWebhookEndpoint: 'POST /v1/webhooks',
  getWebhookEndpoint: 'GET /v1/webhooks/{id}',
  updateWebhookEndpoint: 'PATCH /v1/webhooks/{id}',
  deleteWebhookEndpoint: 'DELETE /v1/webhooks/{id}',
  enableWebhookEndpoint: 'POST /v1/webhooks/{id}/enable',
  disableWebhookEndpoint: 'POST /v1/webhooks/{id}/disable',
  sendTestWebhook: 'POST /v1/webhooks/{id}/test',
  replayFailedWebhookDeliveries: 'POST /v1/webhooks/{id}/replay',
  listWebhookDeliveries: 'GET /v1/webhooks/{id}/deliveries',
  listDeliveries: 'GET /v1/deliveries',
  getWebhookDelivery: 'GET /v1/deliveries/{id}',
  retryWebhookDelivery: 'POST /v1/deliveries/{id}/retry',
  replayWebhookDelivery: 'POST /v1/deliveries/{id}/replay',
  downloadImportErrors: 'GET /v1/imports/{id}/errors',
  exportContacts: 'GET /v1/contacts/export',
} as const satisfies Record<keyof Operations, string>;
