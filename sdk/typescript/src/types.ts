// Written by `npm run generate -w sdk/typescript` from the OpenAPI document; not edited by hand.

/** A problem with one field. */
export interface FieldProblem {
  /** A path into the request, such as `contacts.3.email`. */
  field: string;
  /** The problem. */
  message: string;
  /** The reason for an `idempotency_conflict`: only `in_flight` is worth retrying. */
  reason?: 'in_flight' | 'different_request' | 'outcome_unknown' | undefined;
}

/** The error, for programs (`code`, `details[].field`) and for people (`message`). */
export interface ApiError {
  /** The error code. */
  code: 'validation_error' | 'unauthorized' | 'insufficient_scope' | 'forbidden' | 'not_found' | 'method_not_allowed' | 'conflict' | 'idempotency_conflict' | 'payload_too_large' | 'unsupported_media_type' | 'rate_limited' | 'internal_error' | 'timeout';
  /** A human-readable message. */
  message: string;
  /** The value of the `X-Request-Id` header. */
  request_id: string;
  /** The problems by field; empty when the error is not about fields. */
  details: FieldProblem[];
}

/** The body of every error. */
export interface ErrorResponse {
  error: ApiError;
}

/** A project, with its own contacts, campaigns and API keys. Every request acts on exactly one. */
export interface Project {
  /** Project id, as in `X-Project-Id`. */
  id: string;
  /** Display name. */
  name: string;
  /** The sender's postal address, shown in the footer of campaigns and by `{{postal_address}}`. */
  postalAddress: string | null;
  /** When it was created. */
  createdAt: string;
}

/**
 * The status of an email.
 *
 * - `bounced`: Bounced.
 * - `canceled`: Canceled before it was sent.
 * - `complained`: Marked as spam by the recipient.
 * - `delivered`: Accepted by the recipient's server.
 * - `failed`: Permanently rejected by a server or the provider.
 * - `queued`: Waiting to be sent, or being sent.
 * - `scheduled`: Will be sent at its scheduled time.
 * - `sent`: Accepted by the provider. Delivery has not been reported, and some servers never report it.
 * - `suppressed`: Not sent, because the address is suppressed.
 * - `unknown`: The connection broke after the server may have accepted it. It is not retried automatically.
 */
export type EmailStatus = 'bounced' | 'canceled' | 'complained' | 'delivered' | 'failed' | 'queued' | 'scheduled' | 'sent' | 'suppressed' | 'unknown';

/**
 * An outcome of a message, as `statistics` counts them; several may apply to one.
 *
 * - `bounced`: Bounced.
 * - `clicked`: A human first clicked a link.
 * - `clicked_by_machines`: A bot first followed a link, such as a link scanner.
 * - `complained`: Marked as spam.
 * - `delivered`: Reported as accepted by the recipient's server.
 * - `failed`: Rejected by a mail server.
 * - `opened`: First opened by a human.
 * - `opened_by_machines`: First opened by a bot, such as a privacy proxy.
 * - `sent`: Accepted by a mail server.
 */
export type EmailOutcome = 'bounced' | 'clicked' | 'clicked_by_machines' | 'complained' | 'delivered' | 'failed' | 'opened' | 'opened_by_machines' | 'sent';

/** An email, transactional or of a campaign. */
export interface Email {
  /** Message id, the same in every event about it. */
  id: string;
  /** The status; for several recipients, that of the first. */
  status: EmailStatus;
  /** The sender; null for a campaign message, whose sender is on the campaign. */
  from: string | null;
  /** Recipients. */
  to: string[];
  /** Cc recipients. */
  cc: string[];
  /** Bcc recipients. */
  bcc: string[];
  /** Reply-to addresses. */
  replyTo: string[];
  /** The rendered subject; null if it equals the campaign's. */
  subject: string | null;
  /** Tags set by the sender. */
  tags: string[];
  /** Metadata set by the sender; echoed in events. */
  metadata: Record<string, unknown>;
  /** The campaign; null for transactional mail. */
  campaignId: string | null;
  /** The recipient contact; null for transactional mail. */
  contactId: string | null;
  /** The server's last answer, or why there was none. */
  answer: string | null;
  /** The requested send time; null for immediately. */
  scheduledAt: string | null;
  /** When it was accepted. */
  createdAt: string;
  /** Its workflow in Temporal: its own, one of up to 100 emails, or `burst_…`, which drained the queue. The results of its activities give the outcome of each email. Null before it has one, and for a campaign message, which the workflow of its campaign sends. */
  workflowId: string | null;
  /** Its workflow in the Temporal UI; null before it has one, or if the URL of the UI is not configured. */
  workflowUrl: string | null;
}

/**
 * Where a contact came from.
 *
 * - `api`: Created by an API key.
 * - `dashboard`: Created by a signed-in user.
 * - `form`: Signed up with a form.
 * - `import`: Imported from a file.
 */
export type ContactSource = 'api' | 'dashboard' | 'form' | 'import';

/**
 * An order of contacts. Those without a name are sorted by the local part of their address.
 *
 * - `email`: By address, from A to Z.
 * - `email_desc`: By address, from Z to A.
 * - `name`: By name, from A to Z.
 * - `name_desc`: By name, from Z to A.
 * - `newest`: By creation time, the latest first.
 * - `oldest`: By creation time, the earliest first.
 */
export type ContactSort = 'email' | 'email_desc' | 'name' | 'name_desc' | 'newest' | 'oldest';

/** A segment that a contact belongs to. */
export interface ContactSegment {
  /** Segment id. */
  id: string;
  /** The name of the segment. */
  name: string;
}

/**
 * Why a contact is not mailed (the strongest reason), or `none` if it can be mailed.
 *
 * - `bounced`: The address does not accept mail.
 * - `complained`: The contact marked a message as spam.
 * - `manual`: The address was suppressed by a user, an API key or an import.
 * - `none`: It can be mailed.
 * - `unsubscribed`: The contact unsubscribed.
 */
export type SuppressionStatus = 'bounced' | 'complained' | 'manual' | 'none' | 'unsubscribed';

/** A person a project may write to. */
export interface Contact {
  /** Contact id. */
  id: string;
  /** Unique among the project's contacts, case-insensitive. */
  email: string;
  /** The local part of the address if it has no name: see `hasName`. */
  name: string;
  /** Whether it has a name. Without one, `{{name|there}}` in a template is replaced by its fallback. */
  hasName: boolean;
  /** Where it came from. */
  source: ContactSource;
  /** The segments it belongs to now, ordered by name. */
  segments: ContactSegment[];
  /** Why it is not mailed; `none` if it can be mailed. */
  suppressionStatus: SuppressionStatus;
  /** Values by custom-field key. */
  customFields: Record<string, unknown>;
  /** When it was added. */
  createdAt: string;
  /** When its own fields last changed. */
  updatedAt: string;
}

/**
 * The type of a custom field's values.
 *
 * - `boolean`: True or false.
 * - `date`: A day, such as `2026-11-22`.
 * - `number`: A number.
 * - `select`: One of the field's options.
 * - `text`: A string.
 */
export type CustomFieldType = 'boolean' | 'date' | 'number' | 'select' | 'text';

/** One key of the project's custom-field schema. */
export interface CustomField {
  /** Custom field id. */
  id: string;
  /** The key in `customFields` of a contact and in placeholders. */
  key: string;
  /** Display name. */
  label: string;
  /** The type of its values. */
  type: CustomFieldType;
  /** The values allowed when the type is `select`. */
  options: string[];
  /** When it was added. */
  createdAt: string;
}

/**
 * Why an address must not be mailed, the strongest reason first.
 *
 * - `bounced`: The address does not accept mail.
 * - `complained`: The recipient marked a message as spam.
 * - `manual`: A user, an API key or an import suppressed it.
 * - `unsubscribed`: The recipient unsubscribed.
 */
export type SuppressionReason = 'bounced' | 'complained' | 'manual' | 'unsubscribed';

/**
 * Who caused a suppression.
 *
 * - `api`: An API key.
 * - `import`: An imported list.
 * - `recipient`: The recipient, through a link in a message.
 * - `report`: A bounce or a complaint.
 * - `user`: A user of the dashboard.
 */
export type SuppressionOrigin = 'api' | 'import' | 'recipient' | 'report' | 'user';

/** An address that must not be mailed, and why. It outlives the contact. */
export interface Suppression {
  /** Suppression id. */
  id: string;
  /** The address. */
  email: string;
  /** Why it must not be mailed. */
  reason: SuppressionReason;
  /** Who caused it; null if it was added before origins were recorded. */
  origin: SuppressionOrigin | null;
  /** The user or the API key that added it, `usr_…` or `key_…`; null for recipients and reports. */
  addedById: string | null;
  /** When it was added. */
  createdAt: string;
}

/** Why the contacts of a segment are unknown. */
export interface SegmentProblem {
  /** Always `filter`. */
  field: string;
  /** What was deleted, such as `has a condition on the group grp_…, which was deleted`. */
  message: string;
}

/** A saved filter over contacts. Its members are the contacts that match now. */
export interface Segment {
  /** Segment id. */
  id: string;
  /** Unique within the project. */
  name: string;
  /** A condition `{field, op, value}`, or filters combined by `and`, `or`, `not`; see the page on segments. */
  filter: Record<string, unknown>;
  /** What the filter names but was deleted, such as a group. If there is any, the segment has no contacts until the filter is changed, as nobody can tell which ones it selects. */
  problems: SegmentProblem[];
  /** Incremented by each edit; updates may pass the version they are based on. */
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

/** How many contacts a segment had on a day. */
export interface SegmentSize {
  /** The day in UTC, YYYY-MM-DD. */
  day: string;
  /** How many contacts matched when they were counted on that day. */
  size: number;
}

/** An event that a contact caused in your product, such as `order placed`. */
export interface CustomEvent {
  /** Event id. */
  id: string;
  /** What happened. */
  name: string;
  /** The contact that caused it. */
  contactId: string;
  /** The properties, as they were sent. */
  properties: Record<string, unknown>;
  /** When it occurred. */
  occurredAt: string;
  /** When it was accepted. */
  receivedAt: string;
}

/**
 * The type of a property. A text that is an ISO 8601 date, with or without a time, is a date.
 *
 * - `array`: A list.
 * - `boolean`: True or false.
 * - `date`: An ISO 8601 date, with or without a time, as a string.
 * - `number`: A number.
 * - `object`: An object.
 * - `string`: Any other string.
 */
export type CustomEventPropertyType = 'array' | 'boolean' | 'date' | 'number' | 'object' | 'string';

/** A property that events of a name have had. */
export interface CustomEventProperty {
  /** The path of the property, such as `cart.total`. */
  name: string;
  /** The types of the values received. */
  types: CustomEventPropertyType[];
  /** The type that was declared; null if none was. */
  type: CustomEventPropertyType | null;
  /** Whether values of several types, or of a type other than the declared one, were received. */
  hasConflict: boolean;
  /** The description, if there is one. */
  description: string;
  /** The value to assume for events without the property; null for none. */
  defaultValue: unknown;
  /** A value received, shortened. */
  example: string | null;
  /** When an event first had it. */
  firstSeenAt: string;
  /** When an event last had it, to the minute. */
  lastSeenAt: string;
}

/** An event name of the project and its properties, discovered from the events received. */
export interface CustomEventDefinition {
  /** Definition id. */
  id: string;
  /** The name of the events. */
  name: string;
  /** The description, if there is one. */
  description: string;
  /** Whether events with other properties, or with values of other types, are rejected. */
  locked: boolean;
  /** How many events occurred in the last 30 days. */
  eventCount: number;
  /** When the first event was received. */
  firstSeenAt: string;
  /** When the last event was received, to the minute. */
  lastSeenAt: string;
  /** Its properties, ordered by name; at most 200. */
  properties: CustomEventProperty[];
}

/** A named set of contact ids inside a project. It always has at least one member. */
export interface Group {
  /** Group id. */
  id: string;
  /** Unique within the project. */
  name: string;
  /** Member contact ids, including those of deleted contacts: the first 10,000 in their order. `contactCount` counts all. */
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
 * The state of an import.
 *
 * - `canceled`: It was canceled before its end; contacts already written stay.
 * - `completed`: Every row was written or reported as an error.
 * - `failed`: The file could not be used; `error` says why. Nothing was written.
 * - `queued`: Waiting for a worker.
 * - `running`: Rows are being written.
 * - `uploading`: The file is being uploaded.
 */
export type ImportStatus = 'canceled' | 'completed' | 'failed' | 'queued' | 'running' | 'uploading';

/**
 * What an import creates from its rows.
 *
 * - `contacts`: Contacts.
 * - `suppressions`: Suppressions.
 */
export type ImportKind = 'contacts' | 'suppressions';

/** The results of the rows so far; in a dry run, the predicted results. */
export interface ImportCounts {
  /** Rows processed: the sum of created, updated, unchanged, duplicates, suppressed and invalid. */
  rows: number;
  /** New contacts or suppressions. */
  created: number;
  /** Existing contacts that were changed. */
  updated: number;
  /** Existing contacts that were not changed, or suppressions that already existed. */
  unchanged: number;
  /** Rows with the address of an earlier row of the file; of suppressions, also with its reason. */
  duplicates: number;
  /** Rows with a new address that is suppressed. */
  suppressed: number;
  /** Rows that are not valid contacts or suppressions. */
  invalid: number;
  /** Rows imported without one or more invalid values; they are also counted by their outcome. */
  incomplete: number;
}

/** A column of the file and its target. */
export interface ImportColumn {
  /** The column name in the file. */
  name: string;
  /** `email`, `name`, `reason` or `customFields.<key>`; empty when it is not imported. */
  fields: string[];
  /** The type of the custom field. */
  type: string | null;
  /** Whether the custom field is created for it. */
  isNew: boolean;
}

/**
 * What to do with an existing contact: nothing, or write the name and the custom fields provided.
 *
 * - `skip`: Leaves the existing contact unchanged.
 * - `update`: Writes the name and the custom fields provided.
 */
export type OnConflict = 'skip' | 'update';

/** A CSV file of contacts or suppressions that is written into the project in the background, and the results of its rows. */
export interface Import {
  /** Import id; also the id of its workflow in Temporal. */
  id: string;
  /** The state of the import. */
  status: ImportStatus;
  /** What the import creates from the rows. */
  kind: ImportKind;
  /** The reason of suppressions whose row has none; null for contacts. */
  reason: SuppressionReason | null;
  /** The fraction of the file that has been processed, from 0 to 1. */
  progress: number;
  /** The results of the rows. */
  counts: ImportCounts;
  /** Why it failed. */
  error: string | null;
  /** The filename. */
  fileName: string | null;
  /** File size in bytes. */
  size: number;
  /** The file's encoding; detected unless it was specified. */
  encoding: string | null;
  /** The separator between values; detected unless it was specified. */
  separator: string | null;
  /** The targets of the columns; empty until the file has been inspected. */
  columns: ImportColumn[];
  /** What to do with existing contacts. */
  onConflict: OnConflict;
  /** A dry run reports what it would write, and writes nothing. */
  dryRun: boolean;
  /** Whether unknown columns become new custom fields. */
  createFields: boolean;
  /** Whether a row with an invalid name or custom field is skipped; otherwise it is imported without that value. */
  skipInvalid: boolean;
  /** The group that imported contacts join; a new group is set once it has its first member. */
  groupId: string | null;
  /** The name of the group, if it was specified. */
  groupName: string | null;
  /** When it was canceled; it stops after the rows that are being written. */
  cancelRequestedAt: string | null;
  /** When the upload began. */
  createdAt: string;
  /** When writing rows began. */
  startedAt: string | null;
  /** When it ended. */
  finishedAt: string | null;
  /** When a completed dry run can no longer be executed; null if its file is not kept. */
  fileExpiresAt: string | null;
  /** The import that executed this dry run. */
  executedAsId: string | null;
}

/**
 * An action on many contacts.
 *
 * - `add_to_group`: Adds the contacts to a group, which may be new.
 * - `delete`: Deletes the contacts permanently. Suppressions of their addresses stay.
 * - `remove_from_group`: Removes the contacts from a group.
 * - `suppress`: Suppresses the addresses, with the reason `manual`.
 * - `unsubscribe`: Unsubscribes the addresses.
 */
export type BulkAction = 'add_to_group' | 'delete' | 'remove_from_group' | 'suppress' | 'unsubscribe';

/**
 * The state of a bulk operation.
 *
 * - `canceled`: It was canceled; contacts already processed stay as they are.
 * - `completed`: All contacts were processed.
 * - `failed`: It could not continue; `error` says why. Contacts already processed stay as they are.
 * - `running`: Contacts are being processed, or it waits for a worker.
 */
export type BulkStatus = 'canceled' | 'completed' | 'failed' | 'running';

/** An operation that applies an action to all contacts that match a filter, in the background. */
export interface BulkOperation {
  /** Id of the operation; also the id of its workflow in Temporal. */
  id: string;
  /** The action. */
  action: BulkAction;
  /** The state of the operation. */
  status: BulkStatus;
  /** How many contacts matched at the start, counted up to 100,000. */
  total: number;
  /** How many have been processed. */
  processed: number;
  /** How many of those were changed. */
  changed: number;
  /** Why it failed. */
  error: string | null;
  /** The group; a new group is set once it has its first member. */
  groupId: string | null;
  /** The name of the group, if it was specified. */
  groupName: string | null;
  /** When it was canceled; it stops after the contacts that are being processed. */
  cancelRequestedAt: string | null;
  /** When it was started. */
  createdAt: string;
  /** When it ended. */
  finishedAt: string | null;
}

/**
 * Status of a campaign.
 *
 * - `canceled`: Ended before all messages were sent.
 * - `completed`: Sent to all recipients.
 * - `draft`: Can be edited and sent.
 * - `paused`: Nothing is sent until it is resumed. If it was paused automatically, `pauseReason` says why.
 * - `scheduled`: Starts at its scheduled time; can be edited or sent until then.
 * - `sending`: Messages are being sent in the background.
 */
export type CampaignStatus = 'canceled' | 'completed' | 'draft' | 'paused' | 'scheduled' | 'sending';

/**
 * What the number of delivered messages means.
 *
 * - `accepted_only`: No deliveries have been reported, for example because an SMTP relay sends no delivery status notifications. Messages are known to be accepted (`sent`), not delivered.
 * - `reported`: The transport reports deliveries. The outcome of a message without a report is not known yet.
 */
export type DeliveryTracking = 'accepted_only' | 'reported';

/** Engagement counters. */
export interface CampaignEngagement {
  /** Messages the provider accepted. */
  sent: number;
  /** Messages the recipients' servers reported as accepted; see `deliveryTracking`. */
  delivered: number;
  /** Whether deliveries are reported; null until a message is accepted. */
  deliveryTracking: DeliveryTracking | null;
  /** Recipients who opened the message. */
  opened: number;
  /** Recipients who clicked a link. */
  clicked: number;
  /** Messages that bounced. */
  bounced: number;
  /** Messages that the provider rejected after accepting them, for example because of a virus. */
  rejected: number;
  /** Recipients who marked it as spam. */
  complained: number;
  /** Recipients who unsubscribed. */
  unsubscribed: number;
  /** Messages opened by a bot, such as a privacy proxy that fetches images on arrival. */
  openedByMachines: number;
  /** Messages clicked by a bot, such as a link scanner. */
  clickedByMachines: number;
}

/** Number of recipients in each state; the sum is the number of recipients. */
export interface CampaignProgress {
  /** To be sent. */
  planned: number;
  /** Being sent. */
  claimed: number;
  /** Accepted by the provider. */
  accepted: number;
  /** Permanently rejected. */
  failed: number;
  /** Not sent: the address is suppressed. */
  suppressed: number;
  /** Possibly accepted; the outcome cannot be known. */
  unknown: number;
  /** Canceled before being sent. */
  canceled: number;
}

/** Planned messages that a server deferred and that will be retried. */
export interface CampaignDeferrals {
  /** Number of messages. */
  messages: number;
  /** When the first of them is due. */
  nextRetryAt: string;
}

/** Planned messages that wait for the local time of their recipients. */
export interface CampaignAwaitingLocalTime {
  /** Number of messages when the recipients were counted, without those that were due since. */
  messages: number;
  /** When the next of them are due. */
  nextAt: string;
}

/** A campaign: one email to many recipients. */
export interface Campaign {
  /** Campaign id; also the id of its first Temporal workflow. */
  id: string;
  /** Display name. */
  name: string;
  /** Subject; may contain placeholders. */
  subject: string | null;
  /** Current status. */
  status: CampaignStatus;
  /** Scheduled start. A campaign with a `timeZoneField` starts when its local time first comes anywhere. */
  scheduledAt: string | null;
  /** The local time at which its messages go, such as `2026-12-01T09:00`; null if it starts at an instant. */
  localTime: string | null;
  /** The time zone of recipients without a valid one in `timeZoneField`; null without a local time. */
  timeZone: string | null;
  /** Key of the custom field with the time zone of a contact; null if all recipients have the same. */
  timeZoneField: string | null;
  /** Number of recipients in the snapshot taken at the start; 0 before that. */
  recipientCount: number;
  /** Whether `recipientCount` still grows, while recipients are counted after the start. */
  countingRecipients: boolean;
  /** Engagement counters. */
  engagement: CampaignEngagement;
  /** Recipients by state. */
  progress: CampaignProgress;
  /** Messages waiting for a retry; null if there are none. */
  deferred: CampaignDeferrals | null;
  /** Messages waiting for the local time of their recipients; null if there are none. */
  awaitingLocalTime: CampaignAwaitingLocalTime | null;
  /** The line that mail programs show after the subject; may contain placeholders. */
  previewText: string | null;
  /** Display name of the sender. */
  fromName: string | null;
  /** From address. */
  fromEmail: string | null;
  /** Reply-to addresses. */
  replyTo: string | null;
  /** The template that provides the body. */
  templateId: string | null;
  /** The template version that is sent; null before the start or without a template. */
  templateVersion: number | null;
  /** The groups that it is sent to. */
  groupIds: string[];
  /** The segments that it is sent to. */
  segmentIds: string[];
  /** Groups whose members are excluded. */
  excludedGroupIds: string[];
  /** Segments whose contacts are excluded. */
  excludedSegmentIds: string[];
  /** `utm_source` of its links. */
  utmSource: string | null;
  /** `utm_medium` of its links. */
  utmMedium: string | null;
  /** `utm_campaign` of its links. */
  utmCampaign: string | null;
  /** `utm_term` of its links. */
  utmTerm: string | null;
  /** `utm_content` of its links. */
  utmContent: string | null;
  /** Why it was paused automatically, or why it blocks its sender after completion; null if a user paused it. */
  pauseReason: string | null;
  /** Whether it blocks other campaigns from its sender's domain because of bounces, complaints or rejections. Resume or cancel it to lift the block, or acknowledge it if it is completed. */
  blocksSender: boolean;
  /** When sending resumes, if the campaign is waiting for its mail server, the next day or the local time of its recipients; null otherwise, and if that is not known. */
  waitingUntil: string | null;
  /** Why the campaign is waiting; null if it is not. */
  waitingReason: string | null;
  /** Maximum messages per second; null for no limit. */
  ratePerSecond: number | null;
  /** Whether opens are tracked; until the campaign starts, null means the project's setting. */
  trackOpens: boolean | null;
  /** Whether clicks are tracked; until the campaign starts, null means the project's setting. */
  trackClicks: boolean | null;
  /** The A/B test that it belongs to, which sends it; null if none. */
  abTestId: string | null;
  /** When it was started. */
  startedAt: string | null;
  /** When it was completed or canceled. */
  completedAt: string | null;
  /** When its recipients were deleted because the project's message retention period had passed. Counters are kept; recipients are no longer listed. */
  recipientsDeletedAt: string | null;
  /** When it was created. */
  createdAt: string;
  /** When it was last edited, or its status last changed by a command. */
  updatedAt: string;
}

/** A tracked link of a campaign, and its clicks. */
export interface CampaignLink {
  /** Position in the HTML, from 0. */
  position: number;
  /** Target URL, with placeholders as written. */
  url: string;
  /** Clicks by humans. */
  clicks: number;
  /** Recipients who clicked it. */
  uniqueClicks: number;
  /** Clicks by bots. */
  clicksByMachines: number;
}

/**
 * The state of an A/B test.
 *
 * - `canceled`: It was canceled. No winner was chosen.
 * - `completed`: The winner is chosen, and the rest of the audience gets it.
 * - `draft`: Its settings and variants can be edited, and it can be started.
 * - `testing`: Its variants are sent, or were, and the winner is not chosen yet.
 */
export type AbTestStatus = 'canceled' | 'completed' | 'draft' | 'testing';

/**
 * What decides an A/B test, as a rate of the accepted messages.
 *
 * - `clicks`: People who clicked a link. Bots are not counted.
 * - `opens`: People who opened the message. Bots are not counted.
 */
export type AbTestMetric = 'clicks' | 'opens';

/**
 * How the rates of the variants chose the winner of an A/B test.
 *
 * - `best_rate`: It had the best rate.
 * - `no_reactions`: It is the first variant that was not canceled: people had opened none, or clicked in none.
 * - `tie`: It is the first of several variants that shared the best rate.
 */
export type AbTestDecision = 'best_rate' | 'no_reactions' | 'tie';

/** An A/B test: campaigns that are each sent to a share of the audience, until the best one is sent to the rest. */
export interface AbTest {
  /** A/B test id; also the id of its workflow in Temporal. */
  id: string;
  /** Its state. */
  status: AbTestStatus;
  /** Percentage of the audience that receives a variant, in equal shares. With 100, no one is left for the winner. */
  samplePercent: number;
  /** What decides it. */
  metric: AbTestMetric;
  /** Hours from the start until the winner is chosen. */
  durationHours: number;
  /** The campaigns that are its variants, in order. */
  variantIds: string[];
  /** The variant with the best rate so far, the first of equal ones; null until a message is accepted. */
  leaderId: string | null;
  /** The variant that won; null until it is chosen. */
  winnerId: string | null;
  /** Who chose the winner, `usr_…` or `key_…`; null if the metric did. */
  chosenById: string | null;
  /** How the rates chose the winner when the time was up; null until then, and if a user or an API key chose it. */
  decision: AbTestDecision | null;
  /** The campaign that sends the winner to the rest of the audience; null until then, or if there is no rest. */
  finalCampaignId: string | null;
  /** When it was started. */
  startedAt: string | null;
  /** When the winner is chosen unless a user chooses it before; null before the start, and after a restore of the database, when a user has to choose. */
  endsAt: string | null;
  /** When the winner was chosen or the test was canceled. */
  completedAt: string | null;
  /** Incremented by each edit; an edit may name the version it is based on. */
  version: number;
  /** When it was created. */
  createdAt: string;
  /** When it was last changed. */
  updatedAt: string;
}

/**
 * The state of a journey.
 *
 * - `active`: Contacts enter it and go through its steps.
 * - `archived`: It has ended permanently, with all its runs.
 * - `draft`: It has never been published.
 * - `paused`: Contacts stay at their steps. Events that arrive in the meantime are processed on resume.
 */
export type JourneyStatus = 'active' | 'archived' | 'draft' | 'paused';

/** An automation: contacts enter it and go through its steps. */
export interface Journey {
  /** Journey id; also the id of its workflow in Temporal. */
  id: string;
  /** Unique within the project. */
  name: string;
  /** The state of the journey. */
  status: JourneyStatus;
  /** The draft. The entry, the steps, and rules for the whole journey; see the reference of journeys. */
  definition: Record<string, unknown>;
  /** The number of edits of the draft; pass it to `updateJourney` and `publishJourney`. */
  version: number;
  /** The version that contacts enter; null until it is published. */
  publishedVersion: number | null;
  /** Why it was paused automatically; null if it was paused by request. */
  pausedReason: string | null;
  /** When it was created. */
  createdAt: string;
  /** When it was last changed. */
  updatedAt: string;
  /** When it was last published. */
  publishedAt: string | null;
}

/** A published version of a journey. It never changes. */
export interface JourneyVersion {
  /** Counted from 1 in each journey. */
  number: number;
  /** The entry, the steps, and rules for the whole journey; see the reference of journeys. */
  definition: Record<string, unknown>;
  /** When it was published. */
  publishedAt: string;
  /** Who published it, `usr_…` or `key_…`. */
  publishedById: string;
  /** What the person or the key is called now; null when they are gone. */
  publishedByName: string | null;
}

/**
 * The state of a run.
 *
 * - `active`: The contact waits, or its next step is about to be carried out.
 * - `completed`: The contact reached an end of the journey.
 * - `exited`: The run ended for another reason; `endReason` says why.
 * - `paused`: The run of this contact is paused.
 */
export type EnrollmentStatus = 'active' | 'completed' | 'exited' | 'paused';

/** A step that a run has left. */
export interface EnrollmentStep {
  /** The step. */
  stepId: string;
  /** When the contact reached it. */
  arrivedAt: string;
  /** When it was carried out. */
  leftAt: string;
  /** Such as `sent`, `suppressed`, `yes`, `timeout` or `moved`. */
  outcome: string;
  /** Why the step had no effect, or the response of the URL that it called. */
  detail: string | null;
  /** The id of the email that the step sent. */
  messageId: string | null;
}

/** A contact's run through a journey. */
export interface Enrollment {
  /** Enrollment id. */
  id: string;
  /** The journey. */
  journeyId: string;
  /** The contact, which may have been deleted. */
  contactId: string;
  /** The version of the journey that the run follows. */
  version: number;
  /** The state of the run. */
  status: EnrollmentStatus;
  /** The step that it is at, or was at when it ended. */
  stepId: string;
  /** When the step is carried out; null if it waits for an event without a timeout or for the response of a URL, or has ended. */
  dueAt: string | null;
  /** The name of the event that the run waits for. */
  waitsFor: string | null;
  /** The properties of the event that the contact entered with. */
  properties: Record<string, unknown>;
  /** When the contact entered. */
  enteredAt: string;
  /** When it ended. */
  endedAt: string | null;
  /** Why it ended: `completed`, `exit`, `goal`, `removed`, `new_version`, `journey_archived` or `contact_deleted`. */
  endReason: string | null;
  /** The steps that it has left, in order: the last 50. `enrollmentSteps` lists all. */
  steps: EnrollmentStep[];
}

/**
 * The state of a backtest.
 *
 * - `canceled`: It was canceled. The figures cover the contacts simulated until then.
 * - `completed`: All contacts were simulated.
 * - `failed`: It could not continue; `error` says why. The figures cover the contacts simulated until then.
 * - `running`: Contacts are being simulated, or it waits for a worker.
 */
export type BacktestStatus = 'canceled' | 'completed' | 'failed' | 'running';

/** Assumed outcomes of simulated messages, in percent of the messages. */
export interface BacktestAssumptions {
  /** Delivered. */
  delivered: number;
  /** Opened. */
  opened: number;
  /** Clicked. */
  clicked: number;
  /** Bounced. */
  bounced: number;
  /** Reported as spam. */
  complained: number;
  /** Unsubscribed from. */
  unsubscribed: number;
}

/** The simulated results of one definition. */
export interface BacktestTotals {
  /** The number of the published version; null if the definition is not one. */
  version: number | null;
  /** Contacts that would have entered. */
  contacts: number;
  /** How often contacts would have entered. */
  runs: number;
  /** Runs that reached an end. */
  completed: number;
  /** Runs that ended for another reason. */
  exited: number;
  /** Of those, the conversions: runs that ended because the contact reached the goal. */
  reachedGoal: number;
  /** Runs that had not ended. */
  inProgress: number;
  /** Messages that would have been sent. */
  messages: number;
  /** How often a contact was not allowed to enter again. */
  notAgain: number;
  /** How often a contact did not match the filter of the entry. */
  notMatching: number;
}

/**
 * How a contact's messages differ between the two definitions.
 *
 * - `baseline_only`: Only the baseline sends messages to it.
 * - `candidate_only`: Only the candidate sends messages to it.
 * - `messages`: They send different messages, or a different number of them.
 * - `none`: Both send the same messages at the same times, or neither sends any.
 * - `times`: Both send the same messages, at different times.
 */
export type BacktestDifference = 'baseline_only' | 'candidate_only' | 'messages' | 'none' | 'times';

/** The number of contacts with one kind of difference. */
export interface BacktestDifferenceCount {
  /** The kind of difference. */
  difference: BacktestDifference;
  /** How many contacts. */
  contacts: number;
}

/** A run of a journey against the events and contacts of the last days. Nothing is sent. */
export interface Backtest {
  /** Backtest id; also the id of its workflow in Temporal. */
  id: string;
  /** The journey; null if the definition belongs to none. */
  journeyId: string | null;
  /** The state of the backtest. */
  status: BacktestStatus;
  /** The days that it covers. */
  days: number;
  /** The end of the days that it covers. */
  until: string;
  /** The number of contacts to simulate. */
  total: number;
  /** The number of contacts simulated so far. */
  processed: number;
  /** The number of listed contacts that entered; at most 100,000. */
  listed: number;
  /** Why it failed. */
  error: string | null;
  /** The assumed outcomes of messages. */
  assumptions: BacktestAssumptions;
  /** The segment whose contacts enter at the beginning. */
  segmentId: string | null;
  /** The definition under test. */
  candidate: BacktestTotals;
  /** The results of the baseline; null if there is none. */
  baseline: BacktestTotals | null;
  /** How the messages of contacts differ; empty without a baseline. */
  differences: BacktestDifferenceCount[];
  /** When it was canceled; it stops after the contacts that are being simulated. */
  cancelRequestedAt: string | null;
  /** When it was started. */
  createdAt: string;
  /** When it ended. */
  finishedAt: string | null;
}

/**
 * One of the two definitions of a backtest.
 *
 * - `baseline`: The definition that the candidate is compared with.
 * - `candidate`: The definition under test.
 */
export type BacktestSide = 'baseline' | 'candidate';

/** A person a project may write to. */
export interface ContactSummary {
  /** Unique among the project's contacts, case-insensitive. */
  email: string;
  /** The local part of the address if it has no name: see `hasName`. */
  name: string;
}

/** A step of a simulated run. */
export interface BacktestRunStep {
  /** The step. */
  stepId: string;
  /** When the contact would have reached it. */
  arrivedAt: string;
  /** When it would have been carried out. */
  leftAt: string;
  /** Such as `sent`, `yes` or `timeout`. */
  outcome: string;
}

/** A simulated run of a contact. */
export interface BacktestRun {
  /** When the contact would have entered. */
  enteredAt: string;
  /** When the run would have ended; null if it had not. */
  endedAt: string | null;
  /** Why it ended: `completed`, `exit` or `goal`. */
  endReason: string | null;
  /** The current step, or the step at which the run ended. */
  stepId: string;
  /** When the current step would be carried out. */
  dueAt: string | null;
  /** The steps that the run has left, in order. */
  steps: BacktestRunStep[];
}

/** A contact that would have entered. */
export interface BacktestContact {
  /** Id of the row. */
  id: string;
  /** Contact id. */
  contactId: string;
  /** The contact; null if it was deleted. */
  contact: ContactSummary | null;
  /** How its messages differ between the two definitions. */
  difference: BacktestDifference;
  /** Its runs by the candidate. */
  candidate: BacktestRun[];
  /** Its runs by the baseline. */
  baseline: BacktestRun[];
}

/** A field of a form, besides the address. */
export interface FormField {
  /** `name`, or `custom_fields.` and the key of a custom field. */
  key: string;
  /** The label; null for `Name` or the label of the custom field. */
  label: string | null;
  /** Whether it is required. */
  required: boolean;
}

/** A form with which people can subscribe. */
export interface Form {
  /** Form id. */
  id: string;
  /** Unique within the project. */
  name: string;
  /** The heading of its page. */
  title: string;
  /** Text above the fields. */
  description: string | null;
  /** The groups that subscribers join. */
  groupIds: string[];
  /** Its fields besides the address, in order. */
  fields: FormField[];
  /** The consent text, which subscribers accept with a checkbox. */
  consentText: string | null;
  /** Whether subscribers confirm their address with a link in an email. */
  doubleOptIn: boolean;
  /** The sender of that email. */
  from: string | null;
  /** Where replies to it go. */
  replyTo: string | null;
  /** Its subject; null for the template's or the default. */
  subject: string | null;
  /** Its template; null for the default text. */
  templateId: string | null;
  /** Hours after which the email is sent again if the address is not confirmed; null for never. */
  reminderAfterHours: number | null;
  /** The page that browsers are sent to after submission; null for Postroom's own. */
  submittedUrl: string | null;
  /** The page that browsers are sent to after confirmation; null for Postroom's own. */
  confirmedUrl: string | null;
  /** The origins of sites that may submit it from their own pages. */
  allowedOrigins: string[];
  /** Whether it accepts submissions. */
  enabled: boolean;
  /** Its page. */
  url: string;
  /** The number of edits; pass it to `updateForm`. */
  version: number;
  /** When it was created. */
  createdAt: string;
  /** When it was last changed. */
  updatedAt: string;
}

/**
 * The state of a submission.
 *
 * - `blocked`: It is not confirmed, cannot be, and gets no email: the address bounced, complained or was suppressed by the project.
 * - `confirmed`: It was confirmed, or needed no confirmation.
 * - `expired`: It was not confirmed in time. It will be deleted.
 * - `pending`: It is waiting for confirmation.
 */
export type FormSubmissionStatus = 'blocked' | 'confirmed' | 'expired' | 'pending';

/** A submission of a form; once confirmed, it is the record of consent. */
export interface FormSubmission {
  /** Submission id. */
  id: string;
  /** The form. */
  formId: string;
  /** The address. */
  email: string;
  /** The name that was entered. */
  name: string | null;
  /** The values of custom fields that were entered. */
  customFields: Record<string, unknown>;
  /** Its state. */
  status: FormSubmissionStatus;
  /** Whether it cannot be confirmed, and gets no email, because the address bounced, complained or was suppressed by the project. False once it is confirmed. */
  blocked: boolean;
  /** The text that the person agreed to, as it was then. */
  consentText: string | null;
  /** When it was first submitted. */
  submittedAt: string;
  /** The network that it came from: a /24, or a /48 of IPv6. */
  submittedFrom: string | null;
  /** When the link to confirm expires. */
  expiresAt: string;
  /** When it was confirmed. */
  confirmedAt: string | null;
  /** The network that the confirmation came from. */
  confirmedFrom: string | null;
  /** The latest email with the link to confirm. */
  messageId: string | null;
  /** The contact that it subscribed, which may have been deleted; null before the confirmation. */
  contactId: string | null;
}

/**
 * The state of one message of a campaign.
 *
 * - `accepted`: Accepted by the provider.
 * - `canceled`: Not sent: the campaign was canceled.
 * - `claimed`: Being sent.
 * - `failed`: Permanently rejected by a server.
 * - `planned`: Not sent yet, for example until the local time of its recipient, or deferred by the server and due for a retry.
 * - `suppressed`: Not sent: the address is suppressed.
 * - `unknown`: The connection broke when it may already have been accepted. It is not resent automatically.
 */
export type RecipientState = 'accepted' | 'canceled' | 'claimed' | 'failed' | 'planned' | 'suppressed' | 'unknown';

/**
 * An outcome of a message; several may apply to one.
 *
 * - `bounced`: Bounced.
 * - `clicked`: A human clicked a link.
 * - `clicked_by_machines`: A bot followed a link, such as a link scanner. A human may have clicked too.
 * - `complained`: Marked as spam.
 * - `deferred`: Deferred by the server and due for a retry.
 * - `delivered`: Accepted by the recipient's server.
 * - `opened`: Opened by a human.
 * - `opened_by_machines`: Opened by a bot, such as a privacy proxy. A human may have opened it too.
 * - `rejected`: Rejected by the provider after it was accepted.
 * - `unsubscribed`: The recipient unsubscribed through it.
 */
export type RecipientOutcome = 'bounced' | 'clicked' | 'clicked_by_machines' | 'complained' | 'deferred' | 'delivered' | 'opened' | 'opened_by_machines' | 'rejected' | 'unsubscribed';

/**
 * Why a message bounced, by the server's reply.
 *
 * - `content`: The content was refused.
 * - `hard`: The address does not exist, or no reason was given. It is suppressed.
 * - `other`: For another reason.
 * - `policy`: The sender's reputation or DNS records were refused.
 * - `soft`: The recipient could not receive mail at the time, for example because the mailbox was full.
 */
export type BounceClass = 'content' | 'hard' | 'other' | 'policy' | 'soft';

/** A recipient from the campaign's snapshot, and the outcome of its message. */
export interface CampaignRecipient {
  /** Message id. */
  id: string;
  /** The contact. */
  contactId: string;
  /** The address at the time of the snapshot. */
  email: string;
  /** State of the message. */
  state: RecipientState;
  /** Status of the message, with what was reported since. */
  status: EmailStatus;
  /** The server's last reply, or why the message was not sent. */
  answer: string | null;
  /** How often a server deferred it. */
  deferrals: number;
  /** When it will be retried, or when the local time of its recipient comes; null if it waits for neither. */
  notBefore: string | null;
  /** When sending was last started. */
  claimedAt: string | null;
  /** When the provider accepted it. */
  acceptedAt: string | null;
  /** When it was closed without being accepted. */
  unsentAt: string | null;
  /** When the recipient's server accepted it. */
  deliveredAt: string | null;
  /** When a human first opened it. */
  openedAt: string | null;
  /** When a human first clicked a link. */
  clickedAt: string | null;
  /** When a bot first opened it. */
  openedByMachinesAt: string | null;
  /** When a bot first followed a link. */
  clickedByMachinesAt: string | null;
  /** When it bounced. */
  bouncedAt: string | null;
  /** Why it bounced; null if it did not, or bounced before bounces were classified. */
  bounceClass: BounceClass | null;
  /** What the report of the bounce says, usually the server's reply. */
  bounceReason: string | null;
  /** When it was marked as spam. */
  complainedAt: string | null;
  /** When the provider rejected it after accepting it. */
  rejectedAt: string | null;
  /** When the recipient unsubscribed through it. */
  unsubscribedAt: string | null;
  /** When the recipient took that back. */
  resubscribedAt: string | null;
}

/**
 * Whether a template is ready to be sent.
 *
 * - `draft`: A draft.
 * - `published`: Ready to be sent.
 */
export type TemplateStatus = 'draft' | 'published';

/**
 * The language of a body.
 *
 * - `html`: HTML, which is sent unchanged.
 * - `mjml`: MJML, which is compiled to HTML when it is saved.
 */
export type ContentFormat = 'html' | 'mjml';

/** Reusable content; its placeholders may have default values. */
export interface Template {
  /** Template id. */
  id: string;
  /** Unique within the project. */
  name: string;
  /** The default subject. */
  subject: string | null;
  /** HTML with placeholders such as `{{name|there}}`. Of a published template, the published HTML; see `draft`. */
  body: string;
  /** The language of the body. */
  format: ContentFormat;
  /** The MJML source of the body; null if it was written as HTML. */
  source: string | null;
  /** Whether it is ready to be sent. */
  status: TemplateStatus;
  /** The number of its newest version. */
  version: number;
  /** The number of the version that is sent; null until it is first published. */
  publishedVersion: number | null;
  /** When it was created. */
  createdAt: string;
  /** When it last changed. */
  updatedAt: string;
}

/** The content of a template after one save; immutable. */
export interface TemplateVersion {
  /** Version id. */
  id: string;
  /** Counted from 1 in each template. */
  number: number;
  /** The default subject. */
  subject: string | null;
  /** HTML with placeholders such as `{{name|there}}`. */
  body: string;
  /** The language of the body. */
  format: ContentFormat;
  /** The MJML source of the body; null if it was written as HTML. */
  source: string | null;
  /** Whether the template was ready to be sent. */
  status: TemplateStatus;
  /** The number of the version that it restored; null if it was written. */
  restoredFrom: number | null;
  /** Who saved it, `usr_…` or `key_…`; null for content older than version history. */
  authorId: string | null;
  /** The current name of the user or key; null if it no longer exists. */
  authorName: string | null;
  /** When it was saved. */
  createdAt: string;
}

/**
 * The verification status of one part of a domain.
 *
 * - `failed`: Not found for 72 hours after it was added, or missing for three days. Still checked daily.
 * - `failing`: No longer verified; mail can still be sent for three days.
 * - `pending`: Not seen yet.
 * - `verified`: Seen, and right.
 */
export type VerificationStatus = 'failed' | 'failing' | 'pending' | 'verified';

/** A domain that a project sends from. Read-only for API keys. */
export interface Domain {
  /** Domain name, as in DNS. */
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
  /** The URL to which events are posted. */
  url: string;
  /** Description. */
  description: string | null;
  /** Event types, or `["*"]` for all current and future types. */
  events: string[];
  /** Whether it receives events. */
  enabled: boolean;
  /** When it was disabled. */
  disabledAt: string | null;
  /** Why it was disabled. */
  disabledReason: string | null;
  /** Whether it was disabled because its deliveries kept failing. Then only a signed-in user can enable it. */
  disabledAutomatically: boolean;
  /** When attempts began to fail; null if the last one was acknowledged. */
  failingSince: string | null;
  /** When it was created. */
  createdAt: string;
  /** When it last changed. */
  updatedAt: string;
}

/**
 * State of a delivery.
 *
 * - `acknowledged`: The receiver returned a 2xx status.
 * - `failed`: Six attempts were not acknowledged, or it was canceled.
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
  /** The event that it delivers. */
  eventId: string;
  /** The type of that event. */
  eventType: string;
  /** Its state. */
  state: DeliveryState;
  /** Attempts made so far. */
  attemptCount: number;
  /** When the next attempt is due; null if there is none. */
  nextAttemptAt: string | null;
  /** The delivery that this one repeats. */
  replayOf: string | null;
  /** Its workflow in Temporal: its own, or `batch_…` if its latest attempt was made in a batch, whose result names the deliveries that were not acknowledged. Null while it waits outside of a workflow. */
  workflowId: string | null;
  /** Its workflow in the Temporal UI; null before it has one, or if the URL of the UI is not configured. */
  workflowUrl: string | null;
  /** When it was queued. */
  createdAt: string;
  /** When it was acknowledged or failed. */
  closedAt: string | null;
}

/** An attachment of an email. */
export interface EmailAttachment {
  /** The filename. */
  filename: string;
  /** The content type, if given. */
  contentType: string | null;
  /** The target of `cid:` links. */
  contentId: string | null;
}

/** A recipient of an email, with its own status. */
export interface EmailRecipient {
  /** The address. */
  email: string;
  /** The status for this recipient. */
  status: EmailStatus;
  /** The server's last answer. */
  answer: string | null;
}

/** An event in the history of an email. */
export interface EmailEvent {
  /** The event type, such as `email.sent`. */
  type: string;
  /** When it happened. */
  at: string;
  /** The answer of the server, if any. */
  detail: string | null;
}

/** An email, transactional or of a campaign. */
export interface EmailDetail {
  /** Message id, the same in every event about it. */
  id: string;
  /** The status; for several recipients, that of the first. */
  status: EmailStatus;
  /** The sender; null for a campaign message, whose sender is on the campaign. */
  from: string | null;
  /** Recipients. */
  to: string[];
  /** Cc recipients. */
  cc: string[];
  /** Bcc recipients. */
  bcc: string[];
  /** Reply-to addresses. */
  replyTo: string[];
  /** The rendered subject; null if it equals the campaign's. */
  subject: string | null;
  /** Tags set by the sender. */
  tags: string[];
  /** Metadata set by the sender; echoed in events. */
  metadata: Record<string, unknown>;
  /** The campaign; null for transactional mail. */
  campaignId: string | null;
  /** The recipient contact; null for transactional mail. */
  contactId: string | null;
  /** The server's last answer, or why there was none. */
  answer: string | null;
  /** The requested send time; null for immediately. */
  scheduledAt: string | null;
  /** When it was accepted. */
  createdAt: string;
  /** Its workflow in Temporal: its own, one of up to 100 emails, or `burst_…`, which drained the queue. The results of its activities give the outcome of each email. Null before it has one, and for a campaign message, which the workflow of its campaign sends. */
  workflowId: string | null;
  /** Its workflow in the Temporal UI; null before it has one, or if the URL of the UI is not configured. */
  workflowUrl: string | null;
  /** The HTML body; null if there is none or the email belongs to a campaign. */
  html: string | null;
  /** The text body; null if it is generated from the HTML. */
  text: string | null;
  /** Custom headers. */
  headers: Record<string, unknown>;
  /** Attachments. */
  attachments: EmailAttachment[];
  /** All recipients. */
  recipients: EmailRecipient[];
  /** The history of the email, oldest first. */
  events: EmailEvent[];
}

/** A saved filter over contacts. Its members are the contacts that match now. */
export interface SegmentDetail {
  /** Segment id. */
  id: string;
  /** Unique within the project. */
  name: string;
  /** A condition `{field, op, value}`, or filters combined by `and`, `or`, `not`; see the page on segments. */
  filter: Record<string, unknown>;
  /** What the filter names but was deleted, such as a group. If there is any, the segment has no contacts until the filter is changed, as nobody can tell which ones it selects. */
  problems: SegmentProblem[];
  /** Incremented by each edit; updates may pass the version they are based on. */
  version: number;
  /** Who edited it last, `usr_…` or `key_…`; null if unknown. */
  editedById: string | null;
  /** What the person or the key is called now; null when they are gone. */
  editedByName: string | null;
  /** When it was saved. */
  createdAt: string;
  /** When its name or filter last changed. */
  updatedAt: string;
  /** How many contacts match now; 0 if the segment has `problems`. With conditions on email or events, the count of a large project may be up to five minutes old. */
  contactCount: number;
}

/** A member of a group that still exists. */
export interface GroupMember {
  /** Contact id. */
  id: string;
  /** The address. */
  email: string;
  /** Name of the contact. */
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
  /** Members that still exist, of the first 10,000 ids; `contacts(groupId:)` lists all. */
  contacts: GroupMember[];
}

/** Row errors with the same cause. */
export interface ImportCause {
  /** `email`, `name`, `reason`, `customFields.<key>`, or `row` for the whole row. */
  field: string;
  /** The problem, such as `is not an option`. */
  message: string;
  /** The value that is not an option, or the unknown reason; empty for other causes. */
  value: string;
  /** Number of rows. */
  rows: number;
  /** The first line with this cause, counted from 1. */
  firstLine: number;
  /** How to fix it. */
  fix: string;
}

/** A CSV file of contacts or suppressions that is written into the project in the background, and the results of its rows. */
export interface ImportDetail {
  /** Import id; also the id of its workflow in Temporal. */
  id: string;
  /** The state of the import. */
  status: ImportStatus;
  /** What the import creates from the rows. */
  kind: ImportKind;
  /** The reason of suppressions whose row has none; null for contacts. */
  reason: SuppressionReason | null;
  /** The fraction of the file that has been processed, from 0 to 1. */
  progress: number;
  /** The results of the rows. */
  counts: ImportCounts;
  /** Why it failed. */
  error: string | null;
  /** The filename. */
  fileName: string | null;
  /** File size in bytes. */
  size: number;
  /** The file's encoding; detected unless it was specified. */
  encoding: string | null;
  /** The separator between values; detected unless it was specified. */
  separator: string | null;
  /** The targets of the columns; empty until the file has been inspected. */
  columns: ImportColumn[];
  /** What to do with existing contacts. */
  onConflict: OnConflict;
  /** A dry run reports what it would write, and writes nothing. */
  dryRun: boolean;
  /** Whether unknown columns become new custom fields. */
  createFields: boolean;
  /** Whether a row with an invalid name or custom field is skipped; otherwise it is imported without that value. */
  skipInvalid: boolean;
  /** The group that imported contacts join; a new group is set once it has its first member. */
  groupId: string | null;
  /** The name of the group, if it was specified. */
  groupName: string | null;
  /** When it was canceled; it stops after the rows that are being written. */
  cancelRequestedAt: string | null;
  /** When the upload began. */
  createdAt: string;
  /** When writing rows began. */
  startedAt: string | null;
  /** When it ended. */
  finishedAt: string | null;
  /** When a completed dry run can no longer be executed; null if its file is not kept. */
  fileExpiresAt: string | null;
  /** The import that executed this dry run. */
  executedAsId: string | null;
  /** The causes of the row errors, the most frequent first; at most 200. */
  causes: ImportCause[];
}

/** A campaign: one email to many recipients. */
export interface CampaignDetail {
  /** Campaign id; also the id of its first Temporal workflow. */
  id: string;
  /** Display name. */
  name: string;
  /** Subject; may contain placeholders. */
  subject: string | null;
  /** Current status. */
  status: CampaignStatus;
  /** Scheduled start. A campaign with a `timeZoneField` starts when its local time first comes anywhere. */
  scheduledAt: string | null;
  /** The local time at which its messages go, such as `2026-12-01T09:00`; null if it starts at an instant. */
  localTime: string | null;
  /** The time zone of recipients without a valid one in `timeZoneField`; null without a local time. */
  timeZone: string | null;
  /** Key of the custom field with the time zone of a contact; null if all recipients have the same. */
  timeZoneField: string | null;
  /** Number of recipients in the snapshot taken at the start; 0 before that. */
  recipientCount: number;
  /** Whether `recipientCount` still grows, while recipients are counted after the start. */
  countingRecipients: boolean;
  /** Engagement counters. */
  engagement: CampaignEngagement;
  /** Recipients by state. */
  progress: CampaignProgress;
  /** Messages waiting for a retry; null if there are none. */
  deferred: CampaignDeferrals | null;
  /** Messages waiting for the local time of their recipients; null if there are none. */
  awaitingLocalTime: CampaignAwaitingLocalTime | null;
  /** The line that mail programs show after the subject; may contain placeholders. */
  previewText: string | null;
  /** Display name of the sender. */
  fromName: string | null;
  /** From address. */
  fromEmail: string | null;
  /** Reply-to addresses. */
  replyTo: string | null;
  /** The template that provides the body. */
  templateId: string | null;
  /** The template version that is sent; null before the start or without a template. */
  templateVersion: number | null;
  /** The groups that it is sent to. */
  groupIds: string[];
  /** The segments that it is sent to. */
  segmentIds: string[];
  /** Groups whose members are excluded. */
  excludedGroupIds: string[];
  /** Segments whose contacts are excluded. */
  excludedSegmentIds: string[];
  /** `utm_source` of its links. */
  utmSource: string | null;
  /** `utm_medium` of its links. */
  utmMedium: string | null;
  /** `utm_campaign` of its links. */
  utmCampaign: string | null;
  /** `utm_term` of its links. */
  utmTerm: string | null;
  /** `utm_content` of its links. */
  utmContent: string | null;
  /** Why it was paused automatically, or why it blocks its sender after completion; null if a user paused it. */
  pauseReason: string | null;
  /** Whether it blocks other campaigns from its sender's domain because of bounces, complaints or rejections. Resume or cancel it to lift the block, or acknowledge it if it is completed. */
  blocksSender: boolean;
  /** When sending resumes, if the campaign is waiting for its mail server, the next day or the local time of its recipients; null otherwise, and if that is not known. */
  waitingUntil: string | null;
  /** Why the campaign is waiting; null if it is not. */
  waitingReason: string | null;
  /** Maximum messages per second; null for no limit. */
  ratePerSecond: number | null;
  /** Whether opens are tracked; until the campaign starts, null means the project's setting. */
  trackOpens: boolean | null;
  /** Whether clicks are tracked; until the campaign starts, null means the project's setting. */
  trackClicks: boolean | null;
  /** The A/B test that it belongs to, which sends it; null if none. */
  abTestId: string | null;
  /** When it was started. */
  startedAt: string | null;
  /** When it was completed or canceled. */
  completedAt: string | null;
  /** When its recipients were deleted because the project's message retention period had passed. Counters are kept; recipients are no longer listed. */
  recipientsDeletedAt: string | null;
  /** When it was created. */
  createdAt: string;
  /** When it was last edited, or its status last changed by a command. */
  updatedAt: string;
  /** The HTML body; from the start on, the template's body if it uses one. */
  html: string | null;
  /** Format the body was written in. */
  format: ContentFormat;
  /** The MJML source of the HTML; null if the body was written in HTML. */
  source: string | null;
  /** The text part; derived from the HTML if null. */
  text: string | null;
  /** Incremented by each edit; an edit may name the version it is based on. */
  version: number;
  /** Who edited it last, `usr_…` or `key_…`; null if unknown. */
  editedById: string | null;
  /** What the person or the key is called now; null when they are gone. */
  editedByName: string | null;
}

/** Engagement counters. */
export interface CampaignEngagementSummary {
  /** Messages the provider accepted. */
  sent: number;
  /** Recipients who opened the message. */
  opened: number;
  /** Recipients who clicked a link. */
  clicked: number;
  /** Messages opened by a bot, such as a privacy proxy that fetches images on arrival. */
  openedByMachines: number;
  /** Messages clicked by a bot, such as a link scanner. */
  clickedByMachines: number;
}

/** A campaign: one email to many recipients. */
export interface CampaignSummary {
  /** Campaign id; also the id of its first Temporal workflow. */
  id: string;
  /** Display name. */
  name: string;
  /** Subject; may contain placeholders. */
  subject: string | null;
  /** Current status. */
  status: CampaignStatus;
  /** Why it was paused automatically, or why it blocks its sender after completion; null if a user paused it. */
  pauseReason: string | null;
  /** Number of recipients in the snapshot taken at the start; 0 before that. */
  recipientCount: number;
  /** Engagement counters. */
  engagement: CampaignEngagementSummary;
}

/** A variant of an A/B test: a campaign that is sent to a share of the audience. */
export interface AbTestVariant {
  /** A for the first, and so on. */
  label: string;
  /** The fraction of its accepted messages that people opened or clicked; null if none was accepted. */
  rate: number | null;
  /** The campaign. */
  campaign: CampaignSummary;
}

/** An A/B test: campaigns that are each sent to a share of the audience, until the best one is sent to the rest. */
export interface AbTestDetail {
  /** A/B test id; also the id of its workflow in Temporal. */
  id: string;
  /** Its state. */
  status: AbTestStatus;
  /** Percentage of the audience that receives a variant, in equal shares. With 100, no one is left for the winner. */
  samplePercent: number;
  /** What decides it. */
  metric: AbTestMetric;
  /** Hours from the start until the winner is chosen. */
  durationHours: number;
  /** The campaigns that are its variants, in order. */
  variantIds: string[];
  /** The variant with the best rate so far, the first of equal ones; null until a message is accepted. */
  leaderId: string | null;
  /** The variant that won; null until it is chosen. */
  winnerId: string | null;
  /** Who chose the winner, `usr_…` or `key_…`; null if the metric did. */
  chosenById: string | null;
  /** How the rates chose the winner when the time was up; null until then, and if a user or an API key chose it. */
  decision: AbTestDecision | null;
  /** The campaign that sends the winner to the rest of the audience; null until then, or if there is no rest. */
  finalCampaignId: string | null;
  /** When it was started. */
  startedAt: string | null;
  /** When the winner is chosen unless a user chooses it before; null before the start, and after a restore of the database, when a user has to choose. */
  endsAt: string | null;
  /** When the winner was chosen or the test was canceled. */
  completedAt: string | null;
  /** Incremented by each edit; an edit may name the version it is based on. */
  version: number;
  /** When it was created. */
  createdAt: string;
  /** When it was last changed. */
  updatedAt: string;
  /** Its variants, in order. */
  variants: AbTestVariant[];
}

/** A problem that prevents a draft from being published. */
export interface JourneyProblem {
  /** Its path, such as `definition.steps.2.templateId`. */
  field: string;
  /** What is wrong. */
  message: string;
  /** The step that has the problem; null if it is not in a step. */
  stepId: string | null;
}

/** Runs of a journey by outcome. */
export interface JourneyRuns {
  /** In progress. */
  active: number;
  /** In progress, but paused for this contact. */
  paused: number;
  /** Reached an end of the journey. */
  completed: number;
  /** Ended otherwise. */
  exited: number;
  /** Of those that exited: reached the goal. */
  reachedGoal: number;
}

/** The contacts at a step. */
export interface JourneyInProgress {
  /** The version that they follow. */
  version: number;
  /** The step. */
  stepId: string;
  /** The number of contacts. */
  contactCount: number;
  /** The number of them that leave the step within a day. */
  dueWithinDay: number;
  /** Whether the draft has a step with this id and type, to which `move` would take them. */
  hasMatch: boolean;
}

/** How many runs went from a step to another with an outcome, on all versions, including runs that retention has deleted. */
export interface JourneyPassage {
  /** The step that they left; null if they entered. */
  stepId: string | null;
  /** The outcome with which they left it, as in `EnrollmentStep`; null if they entered. */
  outcome: string | null;
  /** The step that they reached; null if their run ended. */
  toStepId: string | null;
  /** The number of passages; a run that loops counts each time. */
  runCount: number;
}

/** An automation: contacts enter it and go through its steps. */
export interface JourneyDetail {
  /** Journey id; also the id of its workflow in Temporal. */
  id: string;
  /** Unique within the project. */
  name: string;
  /** The state of the journey. */
  status: JourneyStatus;
  /** The draft. The entry, the steps, and rules for the whole journey; see the reference of journeys. */
  definition: Record<string, unknown>;
  /** The number of edits of the draft; pass it to `updateJourney` and `publishJourney`. */
  version: number;
  /** The version that contacts enter; null until it is published. */
  publishedVersion: number | null;
  /** Why it was paused automatically; null if it was paused by request. */
  pausedReason: string | null;
  /** When it was created. */
  createdAt: string;
  /** When it was last changed. */
  updatedAt: string;
  /** When it was last published. */
  publishedAt: string | null;
  /** The number of events that arrived while it was paused, and are processed or discarded on resume; counted up to 100000. */
  waitingEvents: number;
  /** The definition of `publishedVersion`; null until it is published. */
  publishedDefinition: Record<string, unknown> | null;
  /** The problems that prevent the draft from being published; empty if there are none. */
  problems: JourneyProblem[];
  /** Its runs by outcome, without those that retention has deleted. */
  runs: JourneyRuns;
  /** Where contacts are, by version and step, and whether publishing the draft can move them. */
  inProgress: JourneyInProgress[];
  /** The number of runs that went from each step to the next. */
  passages: JourneyPassage[];
}

/** The number of times that a step was left with an outcome. */
export interface BacktestOutcome {
  /** The outcome, as in the steps of an enrollment. */
  outcome: string;
  /** How often. */
  count: number;
}

/** How runs passed through a step. */
export interface BacktestStepTotals {
  /** The step. */
  stepId: string;
  /** How often it was reached. */
  reached: number;
  /** How many runs are at the step at the end of the period. */
  waiting: number;
  /** How often the step was left, by outcome. */
  outcomes: BacktestOutcome[];
}

/** The messages of a step on a day. */
export interface BacktestMessages {
  /** The step. */
  stepId: string;
  /** The template that it sends. */
  templateId: string | null;
  /** The day in UTC, such as 2026-11-25. */
  day: string;
  /** How many messages. */
  count: number;
}

/** The simulated results of one definition. */
export interface BacktestTotalsDetail {
  /** The number of the published version; null if the definition is not one. */
  version: number | null;
  /** Contacts that would have entered. */
  contacts: number;
  /** How often contacts would have entered. */
  runs: number;
  /** Runs that reached an end. */
  completed: number;
  /** Runs that ended for another reason. */
  exited: number;
  /** Of those, the conversions: runs that ended because the contact reached the goal. */
  reachedGoal: number;
  /** Runs that had not ended. */
  inProgress: number;
  /** Messages that would have been sent. */
  messages: number;
  /** How often a contact was not allowed to enter again. */
  notAgain: number;
  /** How often a contact did not match the filter of the entry. */
  notMatching: number;
  /** The definition. */
  definition: Record<string, unknown>;
  /** The steps, in the order of the definition. */
  steps: BacktestStepTotals[];
  /** Messages by step and day. Days without any are left out. */
  sent: BacktestMessages[];
}

/** A run of a journey against the events and contacts of the last days. Nothing is sent. */
export interface BacktestDetail {
  /** Backtest id; also the id of its workflow in Temporal. */
  id: string;
  /** The journey; null if the definition belongs to none. */
  journeyId: string | null;
  /** The state of the backtest. */
  status: BacktestStatus;
  /** The days that it covers. */
  days: number;
  /** The end of the days that it covers. */
  until: string;
  /** The number of contacts to simulate. */
  total: number;
  /** The number of contacts simulated so far. */
  processed: number;
  /** The number of listed contacts that entered; at most 100,000. */
  listed: number;
  /** Why it failed. */
  error: string | null;
  /** Assumptions about the past on which the result depends. */
  notes: string[];
  /** The assumed outcomes of messages. */
  assumptions: BacktestAssumptions;
  /** The segment whose contacts enter at the beginning. */
  segmentId: string | null;
  /** The definition under test. */
  candidate: BacktestTotalsDetail;
  /** The results of the baseline; null if there is none. */
  baseline: BacktestTotalsDetail | null;
  /** How the messages of contacts differ; empty without a baseline. */
  differences: BacktestDifferenceCount[];
  /** When it was canceled; it stops after the contacts that are being simulated. */
  cancelRequestedAt: string | null;
  /** When it was started. */
  createdAt: string;
  /** When it ended. */
  finishedAt: string | null;
}

/** The number of submissions of a form, by state. */
export interface FormSubmissionCounts {
  /** Those that are `pending`. */
  pending: number;
  /** Those that are `blocked`. */
  blocked: number;
  /** Those that are `confirmed`. */
  confirmed: number;
}

/** A form with which people can subscribe. */
export interface FormDetail {
  /** Form id. */
  id: string;
  /** Unique within the project. */
  name: string;
  /** The heading of its page. */
  title: string;
  /** Text above the fields. */
  description: string | null;
  /** The groups that subscribers join. */
  groupIds: string[];
  /** Its fields besides the address, in order. */
  fields: FormField[];
  /** The consent text, which subscribers accept with a checkbox. */
  consentText: string | null;
  /** Whether subscribers confirm their address with a link in an email. */
  doubleOptIn: boolean;
  /** The sender of that email. */
  from: string | null;
  /** Where replies to it go. */
  replyTo: string | null;
  /** Its subject; null for the template's or the default. */
  subject: string | null;
  /** Its template; null for the default text. */
  templateId: string | null;
  /** Hours after which the email is sent again if the address is not confirmed; null for never. */
  reminderAfterHours: number | null;
  /** The page that browsers are sent to after submission; null for Postroom's own. */
  submittedUrl: string | null;
  /** The page that browsers are sent to after confirmation; null for Postroom's own. */
  confirmedUrl: string | null;
  /** The origins of sites that may submit it from their own pages. */
  allowedOrigins: string[];
  /** Whether it accepts submissions. */
  enabled: boolean;
  /** Its page. */
  url: string;
  /** The number of edits; pass it to `updateForm`. */
  version: number;
  /** When it was created. */
  createdAt: string;
  /** When it was last changed. */
  updatedAt: string;
  /** HTML to paste into a page of another site. */
  embedHtml: string;
  /** Its submissions, without those that retention has deleted. */
  submissionCounts: FormSubmissionCounts;
}

/** The content of a template after one save; immutable. */
export interface TemplateVersionSummary {
  /** Counted from 1 in each template. */
  number: number;
  /** The default subject. */
  subject: string | null;
  /** HTML with placeholders such as `{{name|there}}`. */
  body: string;
  /** The language of the body. */
  format: ContentFormat;
  /** The MJML source of the body; null if it was written as HTML. */
  source: string | null;
  /** Who saved it, `usr_…` or `key_…`; null for content older than version history. */
  authorId: string | null;
  /** The current name of the user or key; null if it no longer exists. */
  authorName: string | null;
  /** When it was saved. */
  createdAt: string;
}

/** Reusable content; its placeholders may have default values. */
export interface TemplateDetail {
  /** Template id. */
  id: string;
  /** Unique within the project. */
  name: string;
  /** The default subject. */
  subject: string | null;
  /** HTML with placeholders such as `{{name|there}}`. Of a published template, the published HTML; see `draft`. */
  body: string;
  /** The language of the body. */
  format: ContentFormat;
  /** The MJML source of the body; null if it was written as HTML. */
  source: string | null;
  /** Whether it is ready to be sent. */
  status: TemplateStatus;
  /** The number of its newest version. */
  version: number;
  /** The number of the version that is sent; null until it is first published. */
  publishedVersion: number | null;
  /** When it was created. */
  createdAt: string;
  /** When it last changed. */
  updatedAt: string;
  /** The newest version, if it is newer than the published one; null if there is nothing to publish. */
  draft: TemplateVersionSummary | null;
}

/** A DNS record to publish. */
export interface DnsRecord {
  /** Its purpose: `dkim`, `mailFrom`, `dmarc` or `tracking`. */
  purpose: string;
  /** Record type, such as TXT. */
  type: string;
  /** Full name of the record. */
  name: string;
  /** What to publish. */
  value: string;
}

/**
 * How much delivery suffers, most severe first.
 *
 * - `high`: Mail is rejected or filtered as spam.
 * - `info`: A missed opportunity; delivery does not suffer.
 * - `low`: Delivery is slightly less reliable.
 * - `medium`: Some providers are likely to filter mail.
 */
export type RecommendationSeverity = 'high' | 'info' | 'low' | 'medium';

/** A DNS record that would settle a recommendation. */
export interface RecommendedRecord {
  /** Record type, such as TXT. */
  type: string;
  /** Full name of the record. */
  name: string;
  /** The value to publish in place of the current one. */
  value: string;
}

/** A recommended change to the DNS of a domain. */
export interface DomainRecommendation {
  /** The code of the recommendation, such as `dmarc_missing`. */
  id: string;
  /** How much it affects delivery. */
  severity: RecommendationSeverity;
  /** What to do. */
  title: string;
  /** Why. */
  detail: string;
  /** The record to publish, if one fixes it. */
  record: RecommendedRecord | null;
}

/** The provider of a domain's name servers. */
export interface DnsProvider {
  /** Provider code, such as `cloudflare`. */
  id: string;
  /** Display name. */
  name: string;
  /** The page where its records are edited. */
  editorUrl: string;
}

/** An event in a domain's lifecycle. */
export interface LifecycleEvent {
  /** Time of the event. */
  at: string;
  /** Such as `added`, `verified`, `failing`, `failed`, `checkRequested`. */
  type: string;
  /** `dkim`, `mailFrom`, `dmarc`, `tracking`, or `domain` for the whole. */
  part: string;
  /** A user id, `system` or `operator`. */
  actor: string;
  /** Description of the event. */
  detail: string;
}

/** A domain that a project sends from. Read-only for API keys. */
export interface DomainDetail {
  /** Domain name, as in DNS. */
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
  /** Open deliverability recommendations, most severe first. */
  recommendations: DomainRecommendation[];
  /** The detected DNS provider. */
  dnsProvider: DnsProvider | null;
  /** Lifecycle events, newest first; at most the last 200. */
  lifecycle: LifecycleEvent[];
}

/** An event: the members of the posted body. */
export interface WebhookEvent {
  /** Event id; receivers use it to deduplicate. */
  id: string;
  /** Event type. */
  type: string;
  /** When it happened. */
  created: string;
  /** The data, whose members depend on the type. */
  data: Record<string, unknown>;
}

/** One POST of a delivery, with its response. */
export interface DeliveryAttempt {
  /** 1 to 6. */
  number: number;
  /** When it began. */
  startedAt: string;
  /** How long it took, in milliseconds. */
  durationMs: number;
  /** The HTTP status; null if there was no response. */
  status: number | null;
  /** Why there was no complete response. */
  error: string | null;
  /** The first 4 KB of the response body. U+FFFD replaces characters that control a terminal or reorder text. */
  response: string | null;
  /** The request headers. */
  headers: Record<string, unknown>;
  /** The workflow that made it: the delivery's own, or `batch_…`. Null for attempts that were made before it was recorded. */
  workflowId: string | null;
  /** That workflow in the Temporal UI; null if the URL of the UI is not configured. */
  workflowUrl: string | null;
}

/** One event to one endpoint. */
export interface WebhookDeliveryDetail {
  /** Delivery id; its workflow in Temporal has the same. */
  id: string;
  /** The endpoint it goes to. */
  endpointId: string;
  /** The event that it delivers. */
  eventId: string;
  /** The type of that event. */
  eventType: string;
  /** Its state. */
  state: DeliveryState;
  /** Attempts made so far. */
  attemptCount: number;
  /** When the next attempt is due; null if there is none. */
  nextAttemptAt: string | null;
  /** The delivery that this one repeats. */
  replayOf: string | null;
  /** Its workflow in Temporal: its own, or `batch_…` if its latest attempt was made in a batch, whose result names the deliveries that were not acknowledged. Null while it waits outside of a workflow. */
  workflowId: string | null;
  /** Its workflow in the Temporal UI; null before it has one, or if the URL of the UI is not configured. */
  workflowUrl: string | null;
  /** When it was queued. */
  createdAt: string;
  /** When it was acknowledged or failed. */
  closedAt: string | null;
  /** The event that it delivers. */
  event: WebhookEvent;
  /** Its attempts, oldest first. */
  attempts: DeliveryAttempt[];
}

/** A file to attach. */
export interface AttachmentInput {
  /** The content in base64. */
  content: string;
  /** For an inline image: the target of `cid:` links in the HTML. */
  content_id?: string | null | undefined;
  /** The content type; derived from the filename by default. */
  content_type?: string | null | undefined;
  /** Filename: 1 to 255 characters without slashes or control characters. */
  filename: string;
}

/** A transactional email. */
export interface SendEmailInput {
  /** Files to attach. */
  attachments?: AttachmentInput[] | null | undefined;
  /** Bcc recipients. One address may be given as a string instead of a list. */
  bcc?: string | string[] | null | undefined;
  /** Cc recipients. One address may be given as a string instead of a list. */
  cc?: string | string[] | null | undefined;
  /** The sender, as `ada@example.com` or `Ada <ada@example.com>`, at a domain of the project that is verified for sending. ASCII before the `@`. */
  from: string;
  /** An object of additional headers. */
  headers?: Record<string, unknown> | null | undefined;
  /** The HTML body: at most 5,000,000 characters and 50,000 elements, nested at most 200 deep. */
  html?: string | null | undefined;
  /** An object that is echoed in its events. */
  metadata?: Record<string, unknown> | null | undefined;
  /** Reply-to addresses; at most 10. One address may be given as a string instead of a list. */
  reply_to?: string | string[] | null | undefined;
  /** When to send it; immediately by default. */
  scheduled_at?: string | null | undefined;
  /** At most 998 characters; the template's subject by default. */
  subject?: string | null | undefined;
  /** At most 20 tags to filter by. */
  tags?: string[] | null | undefined;
  /** A published template whose body is the HTML. */
  template_id?: string | null | undefined;
  /** The text body; generated from the HTML by default. */
  text?: string | null | undefined;
  /** Recipients; at most 50 together with cc and bcc. One address may be given as a string instead of a list. */
  to: string | string[];
  /** Whether clicks are tracked; the project's setting by default. */
  track_clicks?: boolean | null | undefined;
  /** Whether opens are tracked; the project's setting by default. */
  track_opens?: boolean | null | undefined;
  /** An object of values for placeholders such as `{{name|there}}`. */
  variables?: Record<string, unknown> | null | undefined;
}

/** An email accepted for sending. */
export interface QueuedEmail {
  /** Message id. */
  id: string;
  /** `queued`; `scheduled` if it has a send time; `suppressed` if all recipients are suppressed. */
  status: EmailStatus;
}

/** Several transactional emails. */
export interface SendEmailsInput {
  /** 1 to 100 emails; either all are accepted or none. */
  emails: SendEmailInput[];
}

/** A new time for a scheduled email. */
export interface RescheduleEmailInput {
  /** When to send it. */
  scheduled_at: string;
}

/** A new contact. */
export interface CreateContactInput {
  /** Values by key, coerced against the project's custom fields. */
  custom_fields?: Record<string, unknown> | null | undefined;
  /** The address; surrounding whitespace is removed. */
  email: string;
  /** At most 200 characters. Without one, the local part of the address is shown as the name. */
  name?: string | null | undefined;
}

/** One contact of a batch. Problems are reported in its result. */
export interface BatchContactInput {
  /** Values by key, coerced against the project's custom fields. */
  custom_fields?: unknown | undefined;
  /** The address. */
  email?: string | null | undefined;
  /** At most 200 characters. Without one, the local part of the address is shown as the name. */
  name?: string | null | undefined;
}

/** Many contacts at once. */
export interface CreateContactsBatchInput {
  /** 1 to 1,000 contacts. */
  contacts: BatchContactInput[];
  /** Defaults to `skip`. */
  on_conflict?: OnConflict | null | undefined;
}

/**
 * The outcome for a contact of a batch.
 *
 * - `created`: The contact is new.
 * - `error`: The contact was rejected; `error` says why.
 * - `existing`: The contact existed and was left unchanged.
 * - `updated`: The contact existed and was changed.
 */
export type BatchContactStatus = 'created' | 'error' | 'existing' | 'updated';

/** The fields to change; omitted fields stay unchanged. */
export interface UpdateContactInput {
  /** Replaces all values. */
  custom_fields?: Record<string, unknown> | undefined;
  /** A new address; it must not belong to another contact or be suppressed. */
  email?: string | undefined;
  /** A new name. If it is blank, the contact has no name, and the local part of its address is shown. */
  name?: string | null | undefined;
  /** False adds an unsubscribe suppression, true clears it. */
  subscribed?: boolean | undefined;
  /** The `updatedAt` this change is based on; `conflict` if the contact was modified since. */
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
  /** The type of its values; it can't be changed later. */
  type: CustomFieldType;
}

/** The fields to change; omitted fields stay unchanged. */
export interface UpdateCustomFieldInput {
  /** A new label. */
  label?: string | undefined;
  /** Replaces the options of a `select` field; existing contact values stay. */
  options?: string[] | undefined;
}

/** An address that must not be mailed. */
export interface AddSuppressionInput {
  /** The address; it does not have to belong to a contact. */
  email: string;
  /** Defaults to `manual`; the other reasons are for lists imported from another provider. */
  reason?: SuppressionReason | null | undefined;
}

/** An entry of a suppression list. Its problems are reported in the result. */
export interface SuppressionEntryInput {
  /** The address. */
  email: string;
  /** `complained`, `bounced`, `manual` or `unsubscribed`; defaults to `manual`. */
  reason?: string | null | undefined;
}

/** A part of a suppression list. */
export interface AddSuppressionsInput {
  /** Writes nothing, and reports what would be written. */
  dry_run?: boolean | null | undefined;
  /** 1 to 1,000 entries. */
  entries: SuppressionEntryInput[];
}

/** Invalid entries with the same cause. */
export interface SuppressionBatchCause {
  /** What is wrong. */
  message: string;
  /** Number of entries. */
  entries: number;
  /** The index of the first of them in the request, from 0. */
  firstIndex: number;
}

/** The result of a batch of suppressions, or of a dry run. */
export interface AddSuppressionsPayload {
  /** New suppressions. */
  created: number;
  /** Entries that were suppressed already, or repeat another entry. */
  existing: number;
  /** Invalid entries. */
  invalid: number;
  /** The invalid entries by cause, the most frequent first. */
  causes: SuppressionBatchCause[];
}

/** A new segment. */
export interface CreateSegmentInput {
  /** A condition `{field, op, value}`, or filters combined by `and`, `or`, `not`; see the page on segments. */
  filter: Record<string, unknown>;
  /** Unique within the project; 1 to 200 characters. */
  name: string;
}

/** The contacts that a filter matches, without saving it. */
export interface SegmentPreview {
  /** How many contacts match now. */
  contactCount: number;
  /** The ten newest matching contacts. */
  contacts: Contact[];
}

/** The fields to change; omitted fields stay unchanged. */
export interface UpdateSegmentInput {
  /** Replaces the filter. */
  filter?: Record<string, unknown> | undefined;
  /** A new name, unique within the project. */
  name?: string | undefined;
  /** The version this edit is based on; `conflict` if the segment was modified since. */
  version?: number | null | undefined;
}

/** Counts of what an erasure changed. */
export interface PersonErased {
  /** Messages anonymized. */
  messages: number;
  /** Events anonymized. */
  events: number;
  /** Planned messages that were canceled. */
  canceled: number;
}

/** One event of several. Problems are reported in its result. */
export interface CustomEventInput {
  /** The contact that caused it; required unless `email` is given. */
  contact_id?: string | null | undefined;
  /** Whether to create a contact with the address if there is none; defaults to false. */
  create_contact?: boolean | null | undefined;
  /** The contact's address, instead of its id. */
  email?: string | null | undefined;
  /** Your own id for the event, up to 200 characters. A later event with the same id is a duplicate, and is not stored. */
  id?: string | null | undefined;
  /** The name of the event, such as `order placed`; up to 100 characters. */
  name?: string | null | undefined;
  /** When it occurred, in ISO 8601 with an offset: at most 30 days ago, at most 5 minutes ahead. Defaults to now. */
  occurred_at?: string | null | undefined;
  /** The properties of the event, up to 16 KB: an object of texts, numbers, booleans, arrays and objects. */
  properties?: unknown | undefined;
}

/** One event, by its fields, or several in `events`. */
export interface TrackEventsInput {
  /** The contact that caused it; required unless `email` is given. */
  contact_id?: string | null | undefined;
  /** Whether to create a contact with the address if there is none; defaults to false. */
  create_contact?: boolean | null | undefined;
  /** The contact's address, instead of its id. */
  email?: string | null | undefined;
  /** 1 to 1,000 events, instead of the fields of one. */
  events?: CustomEventInput[] | null | undefined;
  /** Your own id for the event, up to 200 characters. A later event with the same id is a duplicate, and is not stored. */
  id?: string | null | undefined;
  /** The name of the event, such as `order placed`; up to 100 characters. */
  name?: string | null | undefined;
  /** When it occurred, in ISO 8601 with an offset: at most 30 days ago, at most 5 minutes ahead. Defaults to now. */
  occurred_at?: string | null | undefined;
  /** The properties of the event, up to 16 KB: an object of texts, numbers, booleans, arrays and objects. */
  properties?: Record<string, unknown> | null | undefined;
}

/**
 * The outcome of an event.
 *
 * - `accepted`: It is stored.
 * - `duplicate`: An earlier event has its id. It is not stored again.
 * - `error`: It is not stored; `error` says why.
 */
export type TrackStatus = 'accepted' | 'duplicate' | 'error';

/** A problem with an event. */
export interface TrackError {
  /** The path of the field in the request, such as `events.3.occurredAt`. */
  field: string;
  /** What is wrong with the field. */
  message: string;
}

/** The result for one event. */
export interface TrackResult {
  /** Its index in the request, from 0. */
  index: number;
  /** Its outcome. */
  status: TrackStatus;
  /** Id of the event, or of the earlier one for a duplicate; null for an error. */
  id: string | null;
  /** The problem; null unless the status is `error`. */
  error: TrackError | null;
}

/** The outcome of each event. */
export interface TrackEventsPayload {
  /** How many were stored. */
  accepted: number;
  /** How many had the id of an earlier event. */
  duplicates: number;
  /** How many were rejected. */
  errors: number;
  /** One result for each event, in the order of the request. */
  results: TrackResult[];
}

/** Changes to a property; omitted fields are unchanged. */
export interface CustomEventPropertyChange {
  /** The value to assume for events without the property, of one of its types; null for none. */
  default_value?: unknown | undefined;
  /** A description; up to 500 characters. */
  description?: string | undefined;
  /** The path of the property, such as `cart.total`. */
  name: string;
  /** True removes it from the schema. It returns with the next event that has it, unless the schema is locked. */
  remove?: boolean | null | undefined;
  /** The type that its values should have; null declares none. */
  type?: CustomEventPropertyType | null | undefined;
}

/** The fields to change; omitted fields stay unchanged. */
export interface UpdateCustomEventDefinitionInput {
  /** A description; up to 500 characters. */
  description?: string | undefined;
  /** Whether events with other properties, or with values of other types, are rejected. */
  locked?: boolean | undefined;
  /** Changes to properties. */
  properties?: CustomEventPropertyChange[] | undefined;
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

/** Fields to update; omitted fields are unchanged. */
export interface UpdateGroupInput {
  /** Replaces the whole member list. */
  contact_ids?: string[] | undefined;
  /** A new name, unique within the project. */
  name?: string | undefined;
}

/** The contacts to add, by id, by address or both. */
export interface AddContactsInput {
  /** Contact ids; ids of contacts that do not exist are ignored. */
  contact_ids?: string[] | null | undefined;
  /** Addresses, matched to existing contacts without regard to case. */
  emails?: string[] | null | undefined;
}

/** The filters of the contact list; contacts must pass all of them. */
export interface ContactFilterInput {
  /** Added after this instant. */
  created_after?: string | null | undefined;
  /** Added before this instant. */
  created_before?: string | null | undefined;
  /** The full address, case-insensitive. */
  email?: string | null | undefined;
  /** Members of this group. */
  group_id?: string | null | undefined;
  /** Only these contacts; at most 1,000. */
  ids?: string[] | null | undefined;
  /** Part of the address or name, case-insensitive. */
  search?: string | null | undefined;
  /** Contacts in this segment. */
  segment_id?: string | null | undefined;
  /** Where they came from. */
  source?: ContactSource | null | undefined;
  /** True for suppressed contacts, false for the others. */
  suppressed?: boolean | null | undefined;
  /** Contacts that match this segment filter, which is not saved. */
  where?: Record<string, unknown> | null | undefined;
}

/** An action, and the contacts it applies to. */
export interface StartBulkOperationInput {
  /** What to do. */
  action: BulkAction;
  /** Which contacts; an empty filter stands for all contacts of the project. */
  filter: ContactFilterInput;
  /** The group to add to or remove from. */
  group_id?: string | null | undefined;
  /** The name of the group to add to; created if it does not exist. */
  group_name?: string | null | undefined;
}

/** A new campaign. A draft may be incomplete. */
export interface CreateCampaignInput {
  /** Groups whose members are left out. */
  excluded_group_ids?: string[] | null | undefined;
  /** Segments whose contacts are left out. */
  excluded_segment_ids?: string[] | null | undefined;
  /** Format of the body; HTML by default. */
  format?: ContentFormat | null | undefined;
  /** From address; its domain must be verified in the project when the campaign is sent. */
  from_email?: string | null | undefined;
  /** Display name of the sender. */
  from_name?: string | null | undefined;
  /** Groups to send to. */
  group_ids?: string[] | null | undefined;
  /** The body, as HTML or MJML; used instead of a template. */
  html?: string | null | undefined;
  /** Display name, 1 to 200 characters. */
  name: string;
  /** The line that mail programs show after the subject, at most 300 characters; may contain placeholders. */
  preview_text?: string | null | undefined;
  /** Maximum messages per second. */
  rate_per_second?: number | null | undefined;
  /** Reply-to addresses. */
  reply_to?: string | null | undefined;
  /** Segments to send to. */
  segment_ids?: string[] | null | undefined;
  /** At most 998 characters; may contain placeholders such as `{{name|there}}`. */
  subject?: string | null | undefined;
  /** A template that provides the body; the version published when the campaign starts is used. */
  template_id?: string | null | undefined;
  /** The text part; derived from the HTML if omitted. */
  text?: string | null | undefined;
  /** Whether clicks are tracked; the project's setting at the start by default. */
  track_clicks?: boolean | null | undefined;
  /** Whether opens are tracked; the project's setting at the start by default. */
  track_opens?: boolean | null | undefined;
  /** Added to links without it as `utm_campaign`. */
  utm_campaign?: string | null | undefined;
  /** Added to links without it as `utm_content`. */
  utm_content?: string | null | undefined;
  /** Added to links without it as `utm_medium`. */
  utm_medium?: string | null | undefined;
  /** Added to links without it as `utm_source`. */
  utm_source?: string | null | undefined;
  /** Added to links without it as `utm_term`. */
  utm_term?: string | null | undefined;
}

/** Fields to update; omitted fields are unchanged, and null clears a field. */
export interface UpdateCampaignInput {
  /** Groups whose members are left out. */
  excluded_group_ids?: string[] | null | undefined;
  /** Segments whose contacts are left out. */
  excluded_segment_ids?: string[] | null | undefined;
  /** Format of the body; HTML by default. */
  format?: ContentFormat | null | undefined;
  /** From address; its domain must be verified in the project when the campaign is sent. */
  from_email?: string | null | undefined;
  /** Display name of the sender. */
  from_name?: string | null | undefined;
  /** Groups to send to. */
  group_ids?: string[] | null | undefined;
  /** The body, as HTML or MJML; used instead of a template. */
  html?: string | null | undefined;
  /** The status this edit is meant for; `conflict` if the campaign has another, for example because it has been scheduled since. */
  if_status?: CampaignStatus | null | undefined;
  /** A new name; 1 to 200 characters. */
  name?: string | undefined;
  /** The line that mail programs show after the subject, at most 300 characters; may contain placeholders. */
  preview_text?: string | null | undefined;
  /** Maximum messages per second. Can be changed while the campaign is sending. */
  rate_per_second?: number | null | undefined;
  /** Reply-to addresses. */
  reply_to?: string | null | undefined;
  /** Segments to send to. */
  segment_ids?: string[] | null | undefined;
  /** At most 998 characters; may contain placeholders such as `{{name|there}}`. */
  subject?: string | null | undefined;
  /** A template that provides the body; the version published when the campaign starts is used. */
  template_id?: string | null | undefined;
  /** The text part; derived from the HTML if omitted. */
  text?: string | null | undefined;
  /** Whether clicks are tracked; the project's setting at the start by default. */
  track_clicks?: boolean | null | undefined;
  /** Whether opens are tracked; the project's setting at the start by default. */
  track_opens?: boolean | null | undefined;
  /** Added to links without it as `utm_campaign`. */
  utm_campaign?: string | null | undefined;
  /** Added to links without it as `utm_content`. */
  utm_content?: string | null | undefined;
  /** Added to links without it as `utm_medium`. */
  utm_medium?: string | null | undefined;
  /** Added to links without it as `utm_source`. */
  utm_source?: string | null | undefined;
  /** Added to links without it as `utm_term`. */
  utm_term?: string | null | undefined;
  /** The version this edit is based on; `conflict` if it is no longer current. */
  version?: number | null | undefined;
}

/** When to send a campaign: at an instant, or at a local time. */
export interface ScheduleCampaignInput {
  /** A date and time without an offset, such as `2026-12-01T09:00`, in the future in `timeZone`. Each recipient gets the message at that time in their own time zone; those for whom it has passed at the start get it then. */
  local_time?: string | null | undefined;
  /** A time in the future, with a UTC offset. Required unless `localTime` is set. */
  scheduled_at?: string | null | undefined;
  /** With `localTime`: the time zone of recipients without a valid one in `timeZoneField`, such as `Europe/Berlin`. UTC if omitted. */
  time_zone?: string | null | undefined;
  /** With `localTime`: the custom field with the time zone of a contact. If omitted, all recipients have that of `timeZone`. */
  time_zone_field?: string | null | undefined;
  /** The version to schedule; `conflict` if the campaign was edited since, so that nothing unseen is scheduled. */
  version?: number | null | undefined;
}

/**
 * The outcome that a user has established for messages whose outcome was unknown.
 *
 * - `accepted`: The mail server accepted them.
 * - `failed`: The mail server did not accept them; they can be retried.
 */
export type UnknownOutcome = 'accepted' | 'failed';

/** A problem or warning to review before sending. */
export interface PreflightFinding {
  /** The field, or the placeholder, concerned. */
  field: string;
  /** The problem. */
  message: string;
}

/** Contacts of the audience who are excluded, by reason. */
export interface ExcludedContacts {
  /** Their suppression reason, `excluded` for those in an excluded group or segment, or `left_group` for those who opted out of the groups. */
  reason: string;
  /** Number of contacts. */
  contacts: number;
}

/** The audience of a campaign if it were sent now. */
export interface AudienceCount {
  /** Distinct contacts in its groups and segments. */
  contacts: number;
  /** Contacts who would receive it. */
  recipients: number;
  /** Contacts who would not receive it, by reason. */
  excluded: ExcludedContacts[];
}

/** A placeholder of the message. */
export interface VariableCheck {
  /** Name of the placeholder. */
  name: string;
  /** Its default, if every use of it has one. */
  fallback: string | null;
  /** Recipients for whom it would render empty. */
  missing: number;
  /** Sample addresses of these recipients. */
  examples: string[];
}

/** The review of a campaign before it is sent. */
export interface Preflight {
  /** Whether it could be sent. */
  isReady: boolean;
  /** Whether opens would be tracked. */
  tracksOpens: boolean;
  /** Whether clicks would be tracked. */
  tracksClicks: boolean;
  /** Approximate size of one message in bytes. */
  messageBytes: number | null;
  /** Estimated sending time, from the rate or the throughput of the last campaign, including warm-up days; null if unknown. */
  estimatedSeconds: number | null;
  /** Problems that prevent sending. */
  problems: PreflightFinding[];
  /** Issues to review before sending. */
  warnings: PreflightFinding[];
  /** Its recipients. */
  audience: AudienceCount;
  /** Its placeholders. */
  variables: VariableCheck[];
}

/** Recipients of a test. */
export interface TestCampaignInput {
  /** The contact whose values fill the placeholders; defaults if omitted. */
  contact_id?: string | null | undefined;
  /** 1 to 10 addresses. */
  emails: string[];
}

/** A queued test email. */
export interface TestEmail {
  /** Message id. */
  id: string;
  /** `queued`, or `suppressed`. */
  status: string;
}

/** Recipients of a test, and its sender. */
export interface TestTemplateInput {
  /** The contact whose values fill the placeholders; defaults if omitted. */
  contact_id?: string | null | undefined;
  /** 1 to 10 addresses. */
  emails: string[];
  /** From address; its domain must be verified in the project. */
  from_email: string;
  /** Display name of the sender. */
  from_name?: string | null | undefined;
}

/** A new A/B test. */
export interface CreateAbTestInput {
  /** A draft campaign, which becomes the first variant. The others are copies of it. */
  campaign_id: string;
  /** Hours from the start until the winner is chosen, 1 to 168; 24 if omitted. */
  duration_hours?: number | null | undefined;
  /** What decides the test; opens if omitted. */
  metric?: AbTestMetric | null | undefined;
  /** Percentage of the audience that receives a variant, 1 to 100; 20 if omitted. */
  sample_percent?: number | null | undefined;
  /** How many variants there are, 2 to 5; 2 if omitted. */
  variants?: number | null | undefined;
}

/** Settings to update; omitted ones are unchanged. */
export interface UpdateAbTestInput {
  /** Hours from the start until the winner is chosen, 1 to 168. */
  duration_hours?: number | undefined;
  /** What decides the test. */
  metric?: AbTestMetric | undefined;
  /** Percentage of the audience that receives a variant, 1 to 100. */
  sample_percent?: number | undefined;
  /** The variants to keep; the others are deleted, and letters move up. With `variants`, copies are added up to that number. */
  variant_ids?: string[] | undefined;
  /** How many variants there are, 2 to 5. Further ones, and those that no longer exist, are copies of the first one; if there are fewer, the last ones are deleted. */
  variants?: number | undefined;
  /** The version that the edit is based on; `conflict` if it is not the current one. */
  version?: number | null | undefined;
}

/** A new journey, saved as a draft. */
export interface CreateJourneyInput {
  /** The entry, the steps, and rules for the whole journey; see the reference of journeys. */
  definition?: Record<string, unknown> | null | undefined;
  /** Unique within the project; 1 to 200 characters. */
  name: string;
}

/** Fields to update; omitted fields are unchanged. */
export interface UpdateJourneyInput {
  /** Replaces the draft. The entry, the steps, and rules for the whole journey; see the reference of journeys. */
  definition?: Record<string, unknown> | undefined;
  /** A new name, unique within the project. */
  name?: string | undefined;
  /** The version that the edit is based on; `conflict` if it is not the current one. */
  version?: number | null | undefined;
}

/**
 * What happens to contacts that are on earlier versions when a version is published.
 *
 * - `exit`: Their runs end.
 * - `finish`: They finish on their version.
 * - `move`: They move to the step with the same id and type; those without one finish on their version.
 */
export type JourneyInProgressAction = 'exit' | 'finish' | 'move';

/** How to publish a draft. */
export interface PublishJourneyInput {
  /** What happens to contacts that are on earlier versions; `finish` by default. */
  in_progress?: JourneyInProgressAction | null | undefined;
  /** The version of the draft; `conflict` if it is not the current one. */
  version?: number | null | undefined;
}

/**
 * What to do on resume with the events that arrived while a journey was paused.
 *
 * - `discard`: They are discarded.
 * - `process`: They are processed in order: contacts enter, stop waiting and reach the goal.
 */
export type JourneyWaitingAction = 'discard' | 'process';

/** The contacts to enroll; at most 1000. */
export interface EnrollContactsInput {
  /** By id. */
  contact_ids?: string[] | null | undefined;
  /** By address. */
  emails?: string[] | null | undefined;
  /** The properties that conditions and templates of the journey read as `event`. */
  properties?: Record<string, unknown> | null | undefined;
}

/**
 * The outcome of enrolling a contact.
 *
 * - `enrolled`: It entered.
 * - `in_progress`: It is already in the journey.
 * - `not_again`: It was in the journey before and may not enter again, or not yet.
 * - `not_matching`: It does not match the filter of the entry.
 * - `unknown`: The project has no such contact.
 */
export type EnrollmentOutcome = 'enrolled' | 'in_progress' | 'not_again' | 'not_matching' | 'unknown';

/** The result of one contact. */
export interface EnrollResult {
  /** Its position in the request, ids before addresses, from 0. */
  index: number;
  /** The contact; null if there is none. */
  contactId: string | null;
  /** Its outcome. */
  outcome: EnrollmentOutcome;
}

/** What `enrollContacts` did. */
export interface EnrollContactsPayload {
  /** How many contacts entered; one that is named several times counts once. */
  enrolled: number;
  /** One result per contact, in the order of the request. */
  results: EnrollResult[];
}

/** The assumed outcomes of messages, in percent of the messages, 0 to 100. */
export interface BacktestAssumptionsInput {
  /** Bounced; 0 if omitted. */
  bounced?: number | null | undefined;
  /** Clicked; 0 if omitted. */
  clicked?: number | null | undefined;
  /** Reported as spam; 0 if omitted. */
  complained?: number | null | undefined;
  /** Delivered; 100 if omitted. */
  delivered?: number | null | undefined;
  /** Opened; 0 if omitted. */
  opened?: number | null | undefined;
  /** Unsubscribed from; 0 if omitted. */
  unsubscribed?: number | null | undefined;
}

/** A definition or a version of the journey; the draft if both are omitted. */
export interface BacktestDefinitionInput {
  /** The definition, in the format of a journey. */
  definition?: Record<string, unknown> | null | undefined;
  /** A published version of the journey. */
  version?: number | null | undefined;
}

/** The definitions to test, and the period. */
export interface StartBacktestInput {
  /** The assumed outcomes of messages. */
  assume?: BacktestAssumptionsInput | null | undefined;
  /** The baseline to compare with; none if omitted. */
  baseline?: BacktestDefinitionInput | null | undefined;
  /** What is tested; the draft of the journey if omitted. */
  candidate?: BacktestDefinitionInput | null | undefined;
  /** How many days back, 1 to 90. */
  days: number;
  /** The journey; required unless all definitions are given. */
  journey_id?: string | null | undefined;
  /** A segment whose contacts enter at the beginning, in addition to those that enter through past events. */
  segment_id?: string | null | undefined;
}

/** A field of a form. */
export interface FormFieldInput {
  /** `name`, or `custom_fields.` and the key of a custom field. */
  key: string;
  /** `Name` or the label of the custom field if omitted. */
  label?: string | null | undefined;
  /** Whether it is required; false if omitted. */
  required?: boolean | null | undefined;
}

/** A new form. */
export interface CreateFormInput {
  /** The origins of sites that may submit it from their own pages, such as `https://www.example.com`. */
  allowed_origins?: string[] | null | undefined;
  /** Where browsers are sent after confirmation. */
  confirmed_url?: string | null | undefined;
  /** What subscribers must agree to with a checkbox. */
  consent_text?: string | null | undefined;
  /** Text above the fields. */
  description?: string | null | undefined;
  /** Whether subscribers confirm their address with a link in an email; true for a new form. */
  double_opt_in?: boolean | null | undefined;
  /** Whether it accepts submissions; true for a new form. */
  enabled?: boolean | null | undefined;
  /** Its fields besides the address, in order. */
  fields?: FormFieldInput[] | null | undefined;
  /** The sender of that email, required for double opt-in. */
  from?: string | null | undefined;
  /** The groups that subscribers join. */
  group_ids?: string[] | null | undefined;
  /** Unique within the project; 1 to 200 characters. */
  name: string;
  /** Hours after which the email is sent again if the address is not confirmed. */
  reminder_after_hours?: number | null | undefined;
  /** Where replies to it go. */
  reply_to?: string | null | undefined;
  /** Its subject; the template's or a default one if omitted. */
  subject?: string | null | undefined;
  /** Where browsers are sent after submission. */
  submitted_url?: string | null | undefined;
  /** A published template with a link to `{{confirm_url}}`; a default text if omitted. */
  template_id?: string | null | undefined;
  /** The heading of its page. */
  title?: string | null | undefined;
}

/** Fields to update; omitted fields are unchanged, and null clears those that may be empty. */
export interface UpdateFormInput {
  /** The origins of sites that may submit it from their own pages, such as `https://www.example.com`. */
  allowed_origins?: string[] | undefined;
  /** Where browsers are sent after confirmation. */
  confirmed_url?: string | null | undefined;
  /** What subscribers must agree to with a checkbox. */
  consent_text?: string | null | undefined;
  /** Text above the fields. */
  description?: string | null | undefined;
  /** Whether subscribers confirm their address with a link in an email; true for a new form. */
  double_opt_in?: boolean | undefined;
  /** Whether it accepts submissions; true for a new form. */
  enabled?: boolean | undefined;
  /** Its fields besides the address, in order. */
  fields?: FormFieldInput[] | undefined;
  /** The sender of that email, required for double opt-in. */
  from?: string | null | undefined;
  /** The groups that subscribers join. */
  group_ids?: string[] | undefined;
  /** A new name, unique within the project. */
  name?: string | undefined;
  /** Hours after which the email is sent again if the address is not confirmed. */
  reminder_after_hours?: number | null | undefined;
  /** Where replies to it go. */
  reply_to?: string | null | undefined;
  /** Its subject; the template's or a default one if omitted. */
  subject?: string | null | undefined;
  /** Where browsers are sent after submission. */
  submitted_url?: string | null | undefined;
  /** A published template with a link to `{{confirm_url}}`; a default text if omitted. */
  template_id?: string | null | undefined;
  /** The heading of its page. */
  title?: string | undefined;
  /** The version that the edit is based on; `conflict` if it is not the current one. */
  version?: number | null | undefined;
}

/** Selects recipients of a campaign; they must pass every filter given. */
export interface CampaignRecipientFilter {
  /** Only those whose message bounced for this reason. */
  bounce_class?: BounceClass | null | undefined;
  /** Only this address, without regard to case. */
  email?: string | null | undefined;
  /** The position of a link in `campaignLinks`: only those who clicked it, or `clicked_by_machines`. */
  link?: number | null | undefined;
  /** Only those whose message had this outcome. */
  outcome?: RecipientOutcome | null | undefined;
  /** Only addresses that contain this text, without regard to case. A page may end before it is full: the next one continues the search. Contacts that were deleted, or whose address changed, are found by the beginning of the address. */
  search?: string | null | undefined;
  /** Only those in this state. */
  state?: RecipientState | null | undefined;
}

/** A new template; it starts as a draft. */
export interface CreateTemplateInput {
  /** HTML of at most 500,000 characters, or MJML of at most 256,000, with placeholders such as `{{name|there}}`. HTML has at most 50,000 elements, nested at most 200 deep. */
  body: string;
  /** The language of the body; defaults to HTML. */
  format?: ContentFormat | null | undefined;
  /** Unique within the project; 1 to 200 characters. */
  name: string;
  /** The default subject; placeholders are allowed. */
  subject?: string | null | undefined;
}

/** The fields to change; omitted fields stay unchanged. */
export interface UpdateTemplateInput {
  /** New HTML, or MJML. */
  body?: string | undefined;
  /** The language of the new body; defaults to HTML. */
  format?: ContentFormat | null | undefined;
  /** A new name, unique within the project. */
  name?: string | undefined;
  /** A new subject; null removes it. */
  subject?: string | null | undefined;
  /** The `updatedAt` this edit is based on; `conflict` if the content or the name was modified since. */
  updated_at?: string | null | undefined;
  /** The version number this edit is based on; `conflict` if the content was modified since. */
  version?: number | null | undefined;
}

/** A new webhook endpoint. */
export interface CreateWebhookEndpointInput {
  /** Description; at most 500 characters. */
  description?: string | null | undefined;
  /** Event types, or `["*"]` for all current and future types. */
  events: ('contact.created' | 'contact.updated' | 'contact.subscribed' | 'contact.unsubscribed' | 'contact.deleted' | 'email.sent' | 'email.failed' | 'email.delivered' | 'email.opened' | 'email.clicked' | 'email.bounced' | 'email.complained' | 'email.rejected' | 'campaign.started' | 'campaign.completed' | 'campaign.paused' | 'webhook.test' | 'custom_event.received' | 'import.completed' | 'import.failed' | 'import.canceled' | 'campaign.scheduled' | 'campaign.unscheduled' | 'campaign.paused_manually' | 'campaign.resumed' | 'campaign.canceled' | 'ab_test.completed' | 'ab_test.canceled' | 'form.confirmed' | '*')[];
  /** An HTTPS URL that is reachable from the internet. */
  url: string;
}

/** Changes to an endpoint; omitted values are kept. */
export interface UpdateWebhookEndpointInput {
  /** Description; at most 500 characters. An empty string or null removes it. */
  description?: string | null | undefined;
  /** Event types, or `["*"]`; replaces the previous list. */
  events?: ('contact.created' | 'contact.updated' | 'contact.subscribed' | 'contact.unsubscribed' | 'contact.deleted' | 'email.sent' | 'email.failed' | 'email.delivered' | 'email.opened' | 'email.clicked' | 'email.bounced' | 'email.complained' | 'email.rejected' | 'campaign.started' | 'campaign.completed' | 'campaign.paused' | 'webhook.test' | 'custom_event.received' | 'import.completed' | 'import.failed' | 'import.canceled' | 'campaign.scheduled' | 'campaign.unscheduled' | 'campaign.paused_manually' | 'campaign.resumed' | 'campaign.canceled' | 'ab_test.completed' | 'ab_test.canceled' | 'form.confirmed' | '*')[] | undefined;
  /** An HTTPS URL that is reachable from the internet. */
  url?: string | undefined;
}

/**
 * What happens to deliveries that waited while an endpoint was disabled.
 *
 * - `deliver`: They are delivered now.
 * - `drop`: They fail without another attempt.
 */
export type WebhookBacklog = 'deliver' | 'drop';

/** The test event that was queued. */
export interface SendTestWebhookPayload {
  /** The event. */
  eventId: string;
  /** Its delivery. */
  deliveryId: string;
}

/** The column mapping, by column names of the file (case-insensitive). Omitted mappings are derived from the names. A column without a name is called `column 3`; one whose name an earlier column has, `Notes (column 3)`. */
export interface ImportColumnsInput {
  /** Column names by custom-field key; an empty object for none. */
  custom_fields?: Record<string, unknown> | null | undefined;
  /** The address column. */
  email?: string | null | undefined;
  /** The columns that form the name, joined by a space; an empty list for none. */
  name?: string[] | null | undefined;
  /** The column of suppression reasons. */
  reason?: string | null | undefined;
}

/** Options for importing a file of contacts or suppressions. */
export interface ImportContactsInput {
  /** The column mapping; derived from the column names by default. */
  columns?: ImportColumnsInput | null | undefined;
  /** Creates a custom field for each unknown column, with the type of its values. */
  create_fields?: boolean | null | undefined;
  /** Writes nothing; counts and errors are those of the real import. */
  dry_run?: boolean | null | undefined;
  /** The file's encoding, such as `windows-1252`; detected by default. */
  encoding?: string | null | undefined;
  /** The filename to display. */
  file_name?: string | null | undefined;
  /** The group that imported contacts join. */
  group_id?: string | null | undefined;
  /** The name of the group that imported contacts join; created if it does not exist. */
  group_name?: string | null | undefined;
  /** What to create from the rows; defaults to `contacts`. */
  kind?: ImportKind | null | undefined;
  /** What to do with existing contacts; defaults to `skip`. A blank cell changes nothing. */
  on_conflict?: OnConflict | null | undefined;
  /** The reason of suppressions whose row has none; defaults to `manual`. */
  reason?: SuppressionReason | null | undefined;
  /** The character between values, or `tab`; detected by default. */
  separator?: string | null | undefined;
  /** Skips rows with an invalid name or custom field. By default they are imported without the invalid value. */
  skip_invalid?: boolean | null | undefined;
}

/** A contact is added (manually or by import). */
export interface ContactCreatedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'contact.created';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: ContactCreatedEventData;
}

/** A contact's name, email or group membership changes. */
export interface ContactUpdatedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'contact.updated';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: ContactUpdatedEventData;
}

/** A contact is subscribed or resubscribed. */
export interface ContactSubscribedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'contact.subscribed';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: ContactSubscribedEventData;
}

/** A contact unsubscribes. */
export interface ContactUnsubscribedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'contact.unsubscribed';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: ContactUnsubscribedEventData;
}

/** A contact is deleted. */
export interface ContactDeletedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'contact.deleted';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: ContactDeletedEventData;
}

/** A message is accepted for sending. */
export interface EmailSentEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'email.sent';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: EmailSentEventData;
}

/** A message fails to send. */
export interface EmailFailedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'email.failed';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: EmailFailedEventData;
}

/** The receiving server accepted the message. Amazon SES reports it; a connected mailbox account counts as delivered what it accepts; an SMTP relay reports it only where it offers DSN (RFC 3461) and the sending domain has a return path. */
export interface EmailDeliveredEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'email.delivered';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: EmailDeliveredEventData;
}

/** The recipient opened the message. */
export interface EmailOpenedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'email.opened';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: EmailOpenedEventData;
}

/** The recipient clicked a tracked link. */
export interface EmailClickedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'email.clicked';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: EmailClickedEventData;
}

/** The message bounced. */
export interface EmailBouncedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'email.bounced';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: EmailBouncedEventData;
}

/** The recipient marked it as spam. */
export interface EmailComplainedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'email.complained';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: EmailComplainedEventData;
}

/** The sending provider rejected the message (for example a detected virus). */
export interface EmailRejectedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'email.rejected';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: EmailRejectedEventData;
}

/** A campaign began sending. Recorded once its recipients are counted, which for a large campaign is after the first `email.sent`. */
export interface CampaignStartedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'campaign.started';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: CampaignStartedEventData;
}

/** A campaign finished sending to all recipients. */
export interface CampaignCompletedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'campaign.completed';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: CampaignCompletedEventData;
}

/** A campaign was auto-paused (for example by warmup safety). */
export interface CampaignPausedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'campaign.paused';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: CampaignPausedEventData;
}

/** A sample event queued on request for testing. */
export interface WebhookTestEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'webhook.test';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: WebhookTestEventData;
}

/** A custom event was accepted. Recorded only while an enabled endpoint of the project subscribes to it, because there may be thousands a second. */
export interface CustomEventReceivedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'custom_event.received';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: CustomEventReceivedEventData;
}

/** An import has processed all rows of its file. */
export interface ImportCompletedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'import.completed';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: ImportCompletedEventData;
}

/** An import failed. Rows that were written before stay. */
export interface ImportFailedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'import.failed';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: ImportFailedEventData;
}

/** An import was canceled. Rows that were written before stay. */
export interface ImportCanceledEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'import.canceled';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: ImportCanceledEventData;
}

/** A user or an API key scheduled a campaign, or changed when it starts. */
export interface CampaignScheduledEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'campaign.scheduled';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: CampaignScheduledEventData;
}

/** A user or an API key made a draft of a scheduled campaign, or of one that could not start at its time. */
export interface CampaignUnscheduledEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'campaign.unscheduled';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: CampaignUnscheduledEventData;
}

/** A user or an API key paused a campaign. */
export interface CampaignPausedManuallyEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'campaign.paused_manually';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: CampaignPausedManuallyEventData;
}

/** A user or an API key resumed a paused campaign, however it was paused. */
export interface CampaignResumedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'campaign.resumed';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: CampaignResumedEventData;
}

/** A user or an API key canceled a scheduled, sending or paused campaign, or the A/B test that it belongs to. */
export interface CampaignCanceledEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'campaign.canceled';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: CampaignCanceledEventData;
}

/** The winner of an A/B test was chosen. The rest of the audience gets it. */
export interface AbTestCompletedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'ab_test.completed';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: AbTestCompletedEventData;
}

/** A running A/B test was canceled. No winner was chosen. */
export interface AbTestCanceledEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'ab_test.canceled';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: AbTestCanceledEventData;
}

/** Someone subscribed with a form: they confirmed their address, or submitted a form without double opt-in. */
export interface FormConfirmedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  /** The event type. */
  type: 'form.confirmed';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  /** The project that it belongs to. */
  project_id: string;
  data: FormConfirmedEventData;
}

/** The body of a webhook. New types may be added, so handle unknown ones. */
export type PostroomEvent = ContactCreatedEvent | ContactUpdatedEvent | ContactSubscribedEvent | ContactUnsubscribedEvent | ContactDeletedEvent | EmailSentEvent | EmailFailedEvent | EmailDeliveredEvent | EmailOpenedEvent | EmailClickedEvent | EmailBouncedEvent | EmailComplainedEvent | EmailRejectedEvent | CampaignStartedEvent | CampaignCompletedEvent | CampaignPausedEvent | WebhookTestEvent | CustomEventReceivedEvent | ImportCompletedEvent | ImportFailedEvent | ImportCanceledEvent | CampaignScheduledEvent | CampaignUnscheduledEvent | CampaignPausedManuallyEvent | CampaignResumedEvent | CampaignCanceledEvent | AbTestCompletedEvent | AbTestCanceledEvent | FormConfirmedEvent;

/** `data` of `ContactCreatedEvent`. */
export interface ContactCreatedEventData {
  /** Contact id. */
  contact_id: string;
  /** The address, as it is now. */
  email: string;
  /** The contact's name; the local part of the address if it has none. */
  name: string;
}

/** `data` of `ContactUpdatedEvent`. */
export interface ContactUpdatedEventData {
  /** Contact id. */
  contact_id: string;
  /** The address, as it is now. */
  email: string;
  /** The contact's name; the local part of the address if it has none. */
  name: string;
}

/** `data` of `ContactSubscribedEvent`. */
export interface ContactSubscribedEventData {
  /** Contact id. */
  contact_id: string;
  /** The address, as it is now. */
  email: string;
  /** The contact's name; the local part of the address if it has none. */
  name: string;
}

/** `data` of `ContactUnsubscribedEvent`. */
export interface ContactUnsubscribedEventData {
  /** Contact id. */
  contact_id: string;
  /** The address, as it is now. */
  email: string;
  /** The contact's name; the local part of the address if it has none. */
  name: string;
  /** Who unsubscribed the contact: the recipient through a link, a report, a user, an API key or an imported list. */
  origin: 'recipient' | 'report' | 'user' | 'api' | 'import';
}

/** `data` of `ContactDeletedEvent`. */
export interface ContactDeletedEventData {
  /** Contact id. */
  contact_id: string;
  /** The address, as it is now. */
  email: string;
  /** The contact's name; the local part of the address if it has none. */
  name: string;
}

/** `data` of `EmailSentEvent`. */
export interface EmailSentEventData {
  /** The recipient's address. */
  email: string;
  /** Id of the message, the same in every event about it. */
  message_id: string;
  /** The subject, with placeholders filled in. */
  subject: string;
  /** The campaign it belongs to; null for a transactional email. */
  campaign_id: string | null;
  /** The recipient contact of a campaign or journey; null for other mail. */
  contact_id: string | null;
  /** The `tags` of the email. */
  tags: string[];
  /** The `metadata` of the email, unchanged. */
  metadata: Record<string, unknown>;
}

/** `data` of `EmailFailedEvent`. */
export interface EmailFailedEventData {
  /** The recipient's address. */
  email: string;
  /** Id of the message, the same in every event about it. */
  message_id: string;
  /** The subject, with placeholders filled in. */
  subject: string;
  /** The campaign it belongs to; null for a transactional email. */
  campaign_id: string | null;
  /** The recipient contact of a campaign or journey; null for other mail. */
  contact_id: string | null;
  /** The `tags` of the email. */
  tags: string[];
  /** The `metadata` of the email, unchanged. */
  metadata: Record<string, unknown>;
  /** The reason, as text from the server or from Postroom. */
  reason: string;
}

/** `data` of `EmailDeliveredEvent`. */
export interface EmailDeliveredEventData {
  /** The recipient's address. */
  email: string;
  /** Id of the message, the same in every event about it. */
  message_id: string;
  /** The subject, with placeholders filled in. */
  subject: string;
  /** The campaign it belongs to; null for a transactional email. */
  campaign_id: string | null;
  /** The recipient contact of a campaign or journey; null for other mail. */
  contact_id: string | null;
  /** The `tags` of the email. */
  tags: string[];
  /** The `metadata` of the email, unchanged. */
  metadata: Record<string, unknown>;
}

/** `data` of `EmailOpenedEvent`. */
export interface EmailOpenedEventData {
  /** The recipient's address. */
  email: string;
  /** Id of the message, the same in every event about it. */
  message_id: string;
  /** The subject, with placeholders filled in. */
  subject: string;
  /** The campaign it belongs to; null for a transactional email. */
  campaign_id: string | null;
  /** The recipient contact of a campaign or journey; null for other mail. */
  contact_id: string | null;
  /** The `tags` of the email. */
  tags: string[];
  /** The `metadata` of the email, unchanged. */
  metadata: Record<string, unknown>;
  /** Whether it was caused by a bot, such as a prefetcher or a security scanner. */
  machine?: boolean | undefined;
  /** The user agent. */
  user_agent?: string | null | undefined;
}

/** `data` of `EmailClickedEvent`. */
export interface EmailClickedEventData {
  /** The recipient's address. */
  email: string;
  /** Id of the message, the same in every event about it. */
  message_id: string;
  /** The subject, with placeholders filled in. */
  subject: string;
  /** The campaign it belongs to; null for a transactional email. */
  campaign_id: string | null;
  /** The recipient contact of a campaign or journey; null for other mail. */
  contact_id: string | null;
  /** The `tags` of the email. */
  tags: string[];
  /** The `metadata` of the email, unchanged. */
  metadata: Record<string, unknown>;
  /** The target of the link. */
  url: string;
  /** Whether it was caused by a bot, such as a prefetcher or a security scanner. */
  machine?: boolean | undefined;
  /** The user agent. */
  user_agent?: string | null | undefined;
}

/** `data` of `EmailBouncedEvent`. */
export interface EmailBouncedEventData {
  /** The recipient's address. */
  email: string;
  /** Id of the message, the same in every event about it. */
  message_id: string;
  /** The subject, with placeholders filled in. */
  subject: string;
  /** The campaign it belongs to; null for a transactional email. */
  campaign_id: string | null;
  /** The recipient contact of a campaign or journey; null for other mail. */
  contact_id: string | null;
  /** The `tags` of the email. */
  tags: string[];
  /** The `metadata` of the email, unchanged. */
  metadata: Record<string, unknown>;
  /** The reason, as text from the server or from Postroom. */
  reason: string;
}

/** `data` of `EmailComplainedEvent`. */
export interface EmailComplainedEventData {
  /** The recipient's address. */
  email: string;
  /** Id of the message, the same in every event about it. */
  message_id: string;
  /** The subject, with placeholders filled in. */
  subject: string;
  /** The campaign it belongs to; null for a transactional email. */
  campaign_id: string | null;
  /** The recipient contact of a campaign or journey; null for other mail. */
  contact_id: string | null;
  /** The `tags` of the email. */
  tags: string[];
  /** The `metadata` of the email, unchanged. */
  metadata: Record<string, unknown>;
}

/** `data` of `EmailRejectedEvent`. */
export interface EmailRejectedEventData {
  /** The recipient's address. */
  email: string;
  /** Id of the message, the same in every event about it. */
  message_id: string;
  /** The subject, with placeholders filled in. */
  subject: string;
  /** The campaign it belongs to; null for a transactional email. */
  campaign_id: string | null;
  /** The recipient contact of a campaign or journey; null for other mail. */
  contact_id: string | null;
  /** The `tags` of the email. */
  tags: string[];
  /** The `metadata` of the email, unchanged. */
  metadata: Record<string, unknown>;
  /** The reason, as text from the server or from Postroom. */
  reason: string;
}

/** `data` of `CampaignStartedEvent`. */
export interface CampaignStartedEventData {
  /** Campaign id. */
  campaign_id: string;
  /** The campaign's name. */
  name: string;
  /** The number of recipients. */
  recipients: number;
}

/** `data` of `CampaignCompletedEvent`. */
export interface CampaignCompletedEventData {
  /** Campaign id. */
  campaign_id: string;
  /** The campaign's name. */
  name: string;
  /** Messages that were accepted for sending. */
  sent: number;
  /** How many of them the receiving servers had accepted by then, as far as they are reported. */
  delivered: number;
  /** Messages that failed to send. */
  failed: number;
}

/** `data` of `CampaignPausedEvent`. */
export interface CampaignPausedEventData {
  /** Campaign id. */
  campaign_id: string;
  /** The campaign's name. */
  name: string;
  /** The reason, as text from the server or from Postroom. */
  reason: string;
}

/** `data` of `WebhookTestEvent`. */
export interface WebhookTestEventData {
  /** The tested endpoint, which alone gets the event. */
  endpoint_id: string;
  /** A greeting. */
  message: string;
}

/** `data` of `CustomEventReceivedEvent`. */
export interface CustomEventReceivedEventData {
  /** Id of the custom event. */
  event_id: string;
  /** The name of the custom event, such as `order placed`. */
  name: string;
  /** The contact that it is about. */
  contact_id: string;
  /** The contact's address. */
  email: string;
  /** The properties as they were sent. */
  properties: Record<string, unknown>;
  /** When it occurred: ISO 8601, UTC, with milliseconds. */
  occurred_at: string;
}

/** `data` of `ImportCompletedEvent`. */
export interface ImportCompletedEventData {
  /** Import id. */
  import_id: string;
  /** What the import creates from the rows. */
  kind: 'contacts' | 'suppressions';
  /** The filename, if it is known. */
  file_name: string | null;
  /** Whether it was a dry run, which writes nothing. */
  dry_run: boolean;
  /** Rows processed: the sum of the other numbers. */
  rows: number;
  /** Rows that became new contacts or suppressions, or would in a dry run. */
  created: number;
  /** Rows that changed contacts. */
  updated: number;
  /** Rows that changed nothing. */
  unchanged: number;
  /** Rows with the address of an earlier row. */
  duplicates: number;
  /** Rows with a new address that is suppressed. */
  suppressed: number;
  /** Rows that are not valid contacts or suppressions. */
  invalid: number;
}

/** `data` of `ImportFailedEvent`. */
export interface ImportFailedEventData {
  /** Import id. */
  import_id: string;
  /** What the import creates from the rows. */
  kind: 'contacts' | 'suppressions';
  /** The filename, if it is known. */
  file_name: string | null;
  /** Whether it was a dry run, which writes nothing. */
  dry_run: boolean;
  /** Rows processed: the sum of the other numbers. */
  rows: number;
  /** Rows that became new contacts or suppressions, or would in a dry run. */
  created: number;
  /** Rows that changed contacts. */
  updated: number;
  /** Rows that changed nothing. */
  unchanged: number;
  /** Rows with the address of an earlier row. */
  duplicates: number;
  /** Rows with a new address that is suppressed. */
  suppressed: number;
  /** Rows that are not valid contacts or suppressions. */
  invalid: number;
  /** Why it failed, or was canceled by Postroom, as a sentence. */
  error: string;
}

/** `data` of `ImportCanceledEvent`. */
export interface ImportCanceledEventData {
  /** Import id. */
  import_id: string;
  /** What the import creates from the rows. */
  kind: 'contacts' | 'suppressions';
  /** The filename, if it is known. */
  file_name: string | null;
  /** Whether it was a dry run, which writes nothing. */
  dry_run: boolean;
  /** Rows processed: the sum of the other numbers. */
  rows: number;
  /** Rows that became new contacts or suppressions, or would in a dry run. */
  created: number;
  /** Rows that changed contacts. */
  updated: number;
  /** Rows that changed nothing. */
  unchanged: number;
  /** Rows with the address of an earlier row. */
  duplicates: number;
  /** Rows with a new address that is suppressed. */
  suppressed: number;
  /** Rows that are not valid contacts or suppressions. */
  invalid: number;
  /** Why it failed, or was canceled by Postroom, as a sentence. */
  error: string | null;
}

/** `data` of `CampaignScheduledEvent`. */
export interface CampaignScheduledEventData {
  /** Campaign id. */
  campaign_id: string;
  /** The campaign's name. */
  name: string;
  /** When it starts, with local times in the first time zone: ISO 8601, UTC, with milliseconds. */
  scheduled_at: string;
}

/** `data` of `CampaignUnscheduledEvent`. */
export interface CampaignUnscheduledEventData {
  /** Campaign id. */
  campaign_id: string;
  /** The campaign's name. */
  name: string;
}

/** `data` of `CampaignPausedManuallyEvent`. */
export interface CampaignPausedManuallyEventData {
  /** Campaign id. */
  campaign_id: string;
  /** The campaign's name. */
  name: string;
}

/** `data` of `CampaignResumedEvent`. */
export interface CampaignResumedEventData {
  /** Campaign id. */
  campaign_id: string;
  /** The campaign's name. */
  name: string;
}

/** `data` of `CampaignCanceledEvent`. */
export interface CampaignCanceledEventData {
  /** Campaign id. */
  campaign_id: string;
  /** The campaign's name. */
  name: string;
}

/** `data` of `AbTestCompletedEvent`. */
export interface AbTestCompletedEventData {
  /** A/B test id. */
  ab_test_id: string;
  /** The campaigns that are its variants, in order. */
  variant_ids: string[];
  /** The campaign that is the variant that won. */
  winner_id: string;
  /** Who chose it: the opens or clicks, a user or an API key. */
  chosen_by: 'metric' | 'user' | 'api';
  /** The campaign that sends the winner to the rest; null without a rest. */
  final_campaign_id: string | null;
}

/** `data` of `AbTestCanceledEvent`. */
export interface AbTestCanceledEventData {
  /** A/B test id. */
  ab_test_id: string;
  /** The campaigns that are its variants, in order. */
  variant_ids: string[];
}

/** `data` of `FormConfirmedEvent`. */
export interface FormConfirmedEventData {
  /** Form id. */
  form_id: string;
  /** The name of the form. */
  form_name: string;
  /** The submission, which records the consent. */
  submission_id: string;
  /** The contact that subscribed. */
  contact_id: string;
  /** The contact's address. */
  email: string;
  /** The contact's name. */
  name: string;
}

/** Has a list of `Project` in `data`. */
export interface ProjectListResponse {
  data: Project[];
}

/** Has a `QueuedEmail` in `data`. */
export interface QueuedEmailResponse {
  data: QueuedEmail;
}

/** Has a list of `Email` in `data`. */
export interface EmailListResponse {
  data: Email[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** Has a list of `QueuedEmail` in `data`. */
export interface QueuedEmailListResponse {
  data: QueuedEmail[];
}

/** Has a `EmailDetail` in `data`. */
export interface EmailDetailResponse {
  data: EmailDetail;
}

/** Has a list of `Contact` in `data`. */
export interface ContactListResponse {
  data: Contact[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** Has a `Contact` in `data`. */
export interface ContactResponse {
  data: Contact;
}

/** `error` of `CreateContactsResultData`. */
export interface CreateContactsResultDataError {
  /** The field's path in the contact, such as `email` or `customFields.plan`. */
  field: string;
  /** The problem with the field. */
  message: string;
}

/** An item of `CreateContactsResultData`. */
export interface CreateContactsResultData {
  /** Its index in the request, from 0. */
  index: number;
  /** The outcome. */
  status: BatchContactStatus;
  /** Contact id; null for an error. */
  id: string | null;
  error?: CreateContactsResultDataError | undefined;
}

/** The response of `createContacts`. */
export interface CreateContactsResult {
  data: CreateContactsResultData[];
}

/** Confirms a deletion. */
export interface DeletedResponse {
  /** Always true. */
  deleted: boolean;
}

/** Has a list of `CustomField` in `data`. */
export interface CustomFieldListResponse {
  data: CustomField[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** Has a `CustomField` in `data`. */
export interface CustomFieldResponse {
  data: CustomField;
}

/** Has a list of `Suppression` in `data`. */
export interface SuppressionListResponse {
  data: Suppression[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** Has a `Suppression` in `data`. */
export interface SuppressionResponse {
  data: Suppression;
}

/** Has a `AddSuppressionsPayload` in `data`. */
export interface AddSuppressionsPayloadResponse {
  data: AddSuppressionsPayload;
}

/** Has a list of `Segment` in `data`. */
export interface SegmentListResponse {
  data: Segment[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** Has a `Segment` in `data`. */
export interface SegmentResponse {
  data: Segment;
}

/** Preview a filter without saving it: the count and the ten newest contacts. */
export interface GetSegmentPreviewInput {
  /** A condition `{field, op, value}`, or filters combined by `and`, `or`, `not`; see the page on segments. */
  filter: Record<string, unknown>;
}

/** Has a `SegmentPreview` in `data`. */
export interface SegmentPreviewResponse {
  data: SegmentPreview;
}

/** Has a `SegmentDetail` in `data`. */
export interface SegmentDetailResponse {
  data: SegmentDetail;
}

/** Has a list of `SegmentSize` in `data`. */
export interface SegmentSizeListResponse {
  data: SegmentSize[];
}

/** The response of `getPersonData`. */
export interface GetPersonDataResult {
  data: unknown;
}

/** Has a `PersonErased` in `data`. */
export interface PersonErasedResponse {
  data: PersonErased;
}

/** Has a `TrackEventsPayload` in `data`. */
export interface TrackEventsPayloadResponse {
  data: TrackEventsPayload;
}

/** Has a list of `CustomEvent` in `data`. */
export interface CustomEventListResponse {
  data: CustomEvent[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** Has a list of `CustomEventDefinition` in `data`. */
export interface CustomEventDefinitionListResponse {
  data: CustomEventDefinition[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** Has a `CustomEventDefinition` in `data`. */
export interface CustomEventDefinitionResponse {
  data: CustomEventDefinition;
}

/** Has a list of `Group` in `data`. */
export interface GroupListResponse {
  data: Group[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** Has a `Group` in `data`. */
export interface GroupResponse {
  data: Group;
}

/** Has a `GroupDetail` in `data`. */
export interface GroupDetailResponse {
  data: GroupDetail;
}

/** The response of `addContactsToGroup`. */
export interface AddContactsToGroupResult {
  data: GroupDetail;
  /** Number of the given contacts that exist. */
  matched: number;
}

/** Has a list of `GroupSummary` in `data`. */
export interface GroupSummaryListResponse {
  data: GroupSummary[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** Has a list of `Import` in `data`. */
export interface ImportListResponse {
  data: Import[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** Import a CSV file of contacts or suppressions. */
export interface ImportContactsForm {
  /** The file. */
  file: Blob;
  options?: ImportContactsInput | undefined;
}

/** `data` of `ImportContactsResult`. */
export interface ImportContactsResultData {
  /** Import id. */
  id: string;
  /** It begins as soon as a worker is free. */
  status: 'queued';
}

/** The response of `importContacts`. */
export interface ImportContactsResult {
  data: ImportContactsResultData;
}

/** Has a `ImportDetail` in `data`. */
export interface ImportDetailResponse {
  data: ImportDetail;
}

/** Has a `Import` in `data`. */
export interface ImportResponse {
  data: Import;
}

/** Import the file of a dry run. */
export interface ExecuteDryRunInput {
  /** Replaces the option `skipInvalid` of the dry run. */
  skip_invalid?: boolean | null | undefined;
}

/** Has a list of `BulkOperation` in `data`. */
export interface BulkOperationListResponse {
  data: BulkOperation[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** Has a `BulkOperation` in `data`. */
export interface BulkOperationResponse {
  data: BulkOperation;
}

/** Has a list of `Campaign` in `data`. */
export interface CampaignListResponse {
  data: Campaign[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** Has a `CampaignDetail` in `data`. */
export interface CampaignDetailResponse {
  data: CampaignDetail;
}

/** `data` of `SendCampaignResult`. */
export interface SendCampaignResultData {
  /** Campaign id; also the id of its first Temporal workflow. */
  id: string;
  status: 'sending';
}

/** The response of `sendCampaign`. */
export interface SendCampaignResult {
  data: SendCampaignResultData;
}

/** Retry failed recipients; a completed campaign resumes. */
export interface RetryCampaignRecipientsInput {
  /** Up to 10,000 message ids of its recipients; all recipients in that state if omitted. */
  recipient_ids?: string[] | null | undefined;
}

/** The response of `retryCampaignRecipients`. */
export interface RetryCampaignRecipientsResult {
  data: CampaignDetail;
  /** Number of recipients affected. */
  recipients: number;
}

/** Resend to recipients whose outcome is unknown; some may get the message twice. */
export interface ResendCampaignRecipientsInput {
  /** Must be true: acknowledges that some recipients may get the message twice. */
  accept_duplicates: boolean;
  /** Up to 10,000 message ids of its recipients; all recipients in that state if omitted. */
  recipient_ids?: string[] | null | undefined;
}

/** The response of `resendCampaignRecipients`. */
export interface ResendCampaignRecipientsResult {
  data: CampaignDetail;
  /** Number of recipients affected. */
  recipients: number;
}

/** Resolve recipients whose outcome is unknown; nothing is sent. */
export interface ResolveCampaignRecipientsInput {
  /** Their outcome. */
  outcome: UnknownOutcome;
  /** Up to 10,000 message ids of its recipients; all recipients in that state if omitted. */
  recipient_ids?: string[] | null | undefined;
}

/** The response of `resolveCampaignRecipients`. */
export interface ResolveCampaignRecipientsResult {
  data: CampaignDetail;
  /** Number of recipients affected. */
  recipients: number;
}

/** Has a list of `CampaignLink` in `data`. */
export interface CampaignLinkListResponse {
  data: CampaignLink[];
}

/** Has a `Preflight` in `data`. */
export interface PreflightResponse {
  data: Preflight;
}

/** Has a list of `TestEmail` in `data`. */
export interface TestEmailListResponse {
  data: TestEmail[];
}

/** Has a `AbTestDetail` in `data`. */
export interface AbTestDetailResponse {
  data: AbTestDetail;
}

/** Has a list of `AbTest` in `data`. */
export interface AbTestListResponse {
  data: AbTest[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** End a running A/B test with a winner, which the rest of the audience gets. */
export interface ChooseAbTestWinnerInput {
  /** The campaign that is the variant. */
  campaign_id: string;
}

/** Has a list of `Journey` in `data`. */
export interface JourneyListResponse {
  data: Journey[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** Has a `JourneyDetail` in `data`. */
export interface JourneyDetailResponse {
  data: JourneyDetail;
}

/** Has a list of `JourneyVersion` in `data`. */
export interface JourneyVersionListResponse {
  data: JourneyVersion[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** Has a `Journey` in `data`. */
export interface JourneyResponse {
  data: Journey;
}

/** Resume a paused journey. */
export interface ResumeJourneyInput {
  /** What to do with `waitingEvents`; `process` by default. */
  waiting?: JourneyWaitingAction | null | undefined;
}

/** Has a `EnrollContactsPayload` in `data`. */
export interface EnrollContactsPayloadResponse {
  data: EnrollContactsPayload;
}

/** Has a list of `Enrollment` in `data`. */
export interface EnrollmentListResponse {
  data: Enrollment[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** Has a `Enrollment` in `data`. */
export interface EnrollmentResponse {
  data: Enrollment;
}

/** Has a list of `EnrollmentStep` in `data`. */
export interface EnrollmentStepListResponse {
  data: EnrollmentStep[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** Move the run of a contact to another step. */
export interface MoveEnrollmentInput {
  /** A step of the version that the run follows. */
  step_id: string;
}

/** Has a `Backtest` in `data`. */
export interface BacktestResponse {
  data: Backtest;
}

/** Has a list of `Backtest` in `data`. */
export interface BacktestListResponse {
  data: Backtest[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** Has a `BacktestDetail` in `data`. */
export interface BacktestDetailResponse {
  data: BacktestDetail;
}

/** Has a list of `BacktestContact` in `data`. */
export interface BacktestContactListResponse {
  data: BacktestContact[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** Has a `Form` in `data`. */
export interface FormResponse {
  data: Form;
}

/** Has a list of `Form` in `data`. */
export interface FormListResponse {
  data: Form[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** Has a `FormDetail` in `data`. */
export interface FormDetailResponse {
  data: FormDetail;
}

/** Has a list of `FormSubmission` in `data`. */
export interface FormSubmissionListResponse {
  data: FormSubmission[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** Has a list of `CampaignRecipient` in `data`. */
export interface CampaignRecipientListResponse {
  data: CampaignRecipient[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** Create a group from recipients of a campaign. */
export interface CreateGroupFromRecipientsInput {
  /** Name of the group, unique within the project; 1 to 200 characters. */
  name: string;
  /** The recipients. */
  filter: CampaignRecipientFilter;
}

/** Has a `GroupSummary` in `data`. */
export interface GroupSummaryResponse {
  data: GroupSummary;
}

/** Has a list of `Template` in `data`. */
export interface TemplateListResponse {
  data: Template[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** Has a `TemplateDetail` in `data`. */
export interface TemplateDetailResponse {
  data: TemplateDetail;
}

/** Has a list of `TemplateVersion` in `data`. */
export interface TemplateVersionListResponse {
  data: TemplateVersion[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** Has a `TemplateVersion` in `data`. */
export interface TemplateVersionResponse {
  data: TemplateVersion;
}

/** Has a list of `Domain` in `data`. */
export interface DomainListResponse {
  data: Domain[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** Has a `DomainDetail` in `data`. */
export interface DomainDetailResponse {
  data: DomainDetail;
}

/** Has a list of `WebhookEndpoint` in `data`. */
export interface WebhookEndpointListResponse {
  data: WebhookEndpoint[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** `data` of `CreateWebhookEndpointResult`. */
export type CreateWebhookEndpointResultData = WebhookEndpoint & {
  /** The signing secret; it starts with `whsec_`. */
  secret: string;
};

/** The response of `createWebhookEndpoint`. */
export interface CreateWebhookEndpointResult {
  data: CreateWebhookEndpointResultData;
}

/** Has a `WebhookEndpoint` in `data`. */
export interface WebhookEndpointResponse {
  data: WebhookEndpoint;
}

/** Enable an endpoint, unless it was disabled automatically. */
export interface EnableWebhookEndpointInput {
  /** What happens to waiting deliveries. */
  backlog?: WebhookBacklog | null | undefined;
}

/** Has a `SendTestWebhookPayload` in `data`. */
export interface SendTestWebhookPayloadResponse {
  data: SendTestWebhookPayload;
}

/** Replay the failed deliveries of an endpoint since a time. */
export interface ReplayFailedWebhookDeliveriesInput {
  /** Replay deliveries that failed at this time or later. */
  since: string;
}

/** `data` of `ReplayFailedWebhookDeliveriesResult`. */
export interface ReplayFailedWebhookDeliveriesResultData {
  /** Number of deliveries that were queued again. */
  replayed: number;
}

/** The response of `replayFailedWebhookDeliveries`. */
export interface ReplayFailedWebhookDeliveriesResult {
  data: ReplayFailedWebhookDeliveriesResultData;
}

/** Has a list of `WebhookDelivery` in `data`. */
export interface WebhookDeliveryListResponse {
  data: WebhookDelivery[];
  /** Whether there is a next page. */
  has_more: boolean;
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null;
  /** The number of all results; 100000 means that many or more. Only present with `total=true`. */
  total?: number | undefined;
}

/** Has a `WebhookDeliveryDetail` in `data`. */
export interface WebhookDeliveryDetailResponse {
  data: WebhookDeliveryDetail;
}

/** Has a `WebhookDelivery` in `data`. */
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
  /** List transactional emails, the messages of a campaign, or all with an outcome, newest first */
  listEmails: {
    path: Record<never, never>;
    query: {
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
      /** Only emails with this status. */
      status?: EmailStatus | undefined;
      /** Only emails to this address, ignoring case. */
      to?: string | undefined;
      /** Only emails with this tag. */
      tag?: string | undefined;
      /** The messages of this campaign instead of transactional mail. */
      campaign_id?: string | undefined;
      /** Only emails accepted after this time. */
      created_after?: string | undefined;
      /** Only emails accepted before this time. */
      created_before?: string | undefined;
      /** Only emails with this outcome since `since`, those of campaigns included. */
      outcome?: EmailOutcome | undefined;
      /** Start of the period of `outcome`; at most 400 days. */
      since?: string | undefined;
      /** End of the period of `outcome`; now if omitted. */
      until?: string | undefined;
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
  /** Retrieve an email and its history */
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
  /** Cancel the unsent messages of an email */
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
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
      /** The full address, case-insensitive. */
      email?: string | undefined;
      /** Part of the address or name, case-insensitive; one or two letters match only the start of a word. */
      search?: string | undefined;
      /** Members of this group. */
      group_id?: string | undefined;
      /** Contacts in this segment. */
      segment_id?: string | undefined;
      /** True for suppressed contacts, false for the others. */
      suppressed?: boolean | undefined;
      /** Where they came from. */
      source?: ContactSource | undefined;
      /** Added after this instant. */
      created_after?: string | undefined;
      /** Added before this instant. */
      created_before?: string | undefined;
      /** Contacts that match this segment filter, which is not saved. An object, written as JSON. */
      where?: unknown | undefined;
      /** The order; defaults to `newest`. */
      sort?: ContactSort | undefined;
    };
    body: undefined;
    reply: ContactListResponse;
  };
  /** Create a contact, or return the one with the address */
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
  /** Update, unsubscribe or resubscribe a contact */
  updateContact: {
    path: {
      /** Contact id. */
      id: string;
    };
    query: Record<never, never>;
    body: UpdateContactInput;
    reply: ContactResponse;
  };
  /** Delete a contact permanently */
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
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
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
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
      /** Suppressions of this address, case-insensitive. */
      email?: string | undefined;
      /** Suppressions with this reason. */
      reason?: SuppressionReason | undefined;
      /** Added after this instant. */
      created_after?: string | undefined;
      /** Added before this instant. */
      created_before?: string | undefined;
    };
    body: undefined;
    reply: SuppressionListResponse;
  };
  /** Add an address to the suppression list */
  addSuppression: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: AddSuppressionInput;
    reply: SuppressionResponse;
  };
  /** Add up to 1,000 suppressions from a list */
  addSuppressions: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: AddSuppressionsInput;
    reply: AddSuppressionsPayloadResponse;
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
  /** Remove a suppression */
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
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
      /** Part of the name, case-insensitive. */
      search?: string | undefined;
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
  /** Preview a filter without saving it: the count and the ten newest contacts */
  getSegmentPreview: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: GetSegmentPreviewInput;
    reply: SegmentPreviewResponse;
  };
  /** Retrieve a segment and its contact count */
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
  /** List the recorded daily sizes of a segment, oldest first */
  listSegmentSizes: {
    path: {
      /** Segment id. */
      id: string;
    };
    query: {
      /** Number of days, 1 to 400. */
      days?: number | undefined;
    };
    body: undefined;
    reply: SegmentSizeListResponse;
  };
  /** List the contacts that are in a segment now, newest first */
  listSegmentContacts: {
    path: {
      /** Segment id. */
      id: string;
    };
    query: {
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
    };
    body: undefined;
    reply: ContactListResponse;
  };
  /** Retrieve all stored data about a person */
  getPersonData: {
    path: {
      /** Contact id; required unless email is given. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: GetPersonDataResult;
  };
  /** Erase a person; only a hash of the address is kept */
  erasePerson: {
    path: {
      /** Contact id; required unless email is given. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: PersonErasedResponse;
  };
  /** Track one event of a contact, or up to 1,000, each with its own result */
  trackEvents: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: TrackEventsInput;
    reply: TrackEventsPayloadResponse;
  };
  /** List events, latest first */
  listCustomEvents: {
    path: Record<never, never>;
    query: {
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
      /** Only events of this contact. */
      contact_id?: string | undefined;
      /** Only events with this name. */
      name?: string | undefined;
      /** Only events that occurred at this time or later. */
      from?: string | undefined;
      /** Only events that occurred before this time. */
      to?: string | undefined;
    };
    body: undefined;
    reply: CustomEventListResponse;
  };
  /** List the names of events and their properties, newest name first */
  listCustomEventDefinitions: {
    path: Record<never, never>;
    query: {
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
    };
    body: undefined;
    reply: CustomEventDefinitionListResponse;
  };
  /** Retrieve the definition of an event name */
  getCustomEventDefinition: {
    path: {
      /** Definition id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: CustomEventDefinitionResponse;
  };
  /** Describe an event name and its properties, or lock its schema */
  updateCustomEventDefinition: {
    path: {
      /** Definition id. */
      id: string;
    };
    query: Record<never, never>;
    body: UpdateCustomEventDefinitionInput;
    reply: CustomEventDefinitionResponse;
  };
  /** Remove an event name from the schema; its events stay */
  deleteCustomEventDefinition: {
    path: {
      /** Definition id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: DeletedResponse;
  };
  /** List groups, newest first */
  listGroups: {
    path: Record<never, never>;
    query: {
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
      /** Part of the name, case-insensitive. */
      search?: string | undefined;
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
  /** Delete a group and keep its contacts */
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
  /** Remove a contact from a group and keep the contact */
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
  /** List the groups of a contact, newest first */
  listContactGroups: {
    path: {
      /** Contact id: only the groups that this contact is in. */
      id: string;
    };
    query: {
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
    };
    body: undefined;
    reply: GroupSummaryListResponse;
  };
  /** List imports, newest first */
  listImports: {
    path: Record<never, never>;
    query: {
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
    };
    body: undefined;
    reply: ImportListResponse;
  };
  /** Import a CSV file of contacts or suppressions */
  importContacts: {
    path: Record<never, never>;
    query: {
      /** The column mapping; derived from the column names by default. An object, written as JSON. */
      columns?: ImportColumnsInput | undefined;
      /** Creates a custom field for each unknown column, with the type of its values. */
      create_fields?: boolean | undefined;
      /** Writes nothing; counts and errors are those of the real import. */
      dry_run?: boolean | undefined;
      /** The file's encoding, such as `windows-1252`; detected by default. */
      encoding?: string | undefined;
      /** The filename to display. */
      file_name?: string | undefined;
      /** The group that imported contacts join. */
      group_id?: string | undefined;
      /** The name of the group that imported contacts join; created if it does not exist. */
      group_name?: string | undefined;
      /** What to create from the rows; defaults to `contacts`. */
      kind?: ImportKind | undefined;
      /** What to do with existing contacts; defaults to `skip`. A blank cell changes nothing. */
      on_conflict?: OnConflict | undefined;
      /** The reason of suppressions whose row has none; defaults to `manual`. */
      reason?: SuppressionReason | undefined;
      /** The character between values, or `tab`; detected by default. */
      separator?: string | undefined;
      /** Skips rows with an invalid name or custom field. By default they are imported without the invalid value. */
      skip_invalid?: boolean | undefined;
    };
    body: FormData;
    reply: ImportContactsResult;
  };
  /** Retrieve an import with its progress */
  getImport: {
    path: {
      /** Import id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: ImportDetailResponse;
  };
  /** Cancel an import; contacts already written stay */
  cancelImport: {
    path: {
      /** Import id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: ImportResponse;
  };
  /** Import the file of a dry run */
  executeDryRun: {
    path: {
      /** Import id of the dry run. */
      id: string;
    };
    query: Record<never, never>;
    body: ExecuteDryRunInput;
    reply: ImportResponse;
  };
  /** List bulk operations, newest first */
  listBulkOperations: {
    path: Record<never, never>;
    query: {
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
    };
    body: undefined;
    reply: BulkOperationListResponse;
  };
  /** Change all contacts that match a filter, in the background */
  startBulkOperation: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: StartBulkOperationInput;
    reply: BulkOperationResponse;
  };
  /** Retrieve a bulk operation with its progress */
  getBulkOperation: {
    path: {
      /** Id of the operation. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: BulkOperationResponse;
  };
  /** Cancel a bulk operation; contacts already processed stay as they are */
  cancelBulkOperation: {
    path: {
      /** Id of the operation. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: BulkOperationResponse;
  };
  /** List campaigns with status and engagement summary, newest first */
  listCampaigns: {
    path: Record<never, never>;
    query: {
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
      /** Only campaigns in this status. */
      status?: CampaignStatus | undefined;
      /** Part of the name, case-insensitive. */
      search?: string | undefined;
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
  /** Update a draft or scheduled campaign, or the rate of one that is sending */
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
  /** Start a campaign now; messages are sent in the background */
  sendCampaign: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: SendCampaignResult;
  };
  /** Schedule or reschedule a campaign, for an instant or the local time of each recipient */
  scheduleCampaign: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: ScheduleCampaignInput;
    reply: CampaignDetailResponse;
  };
  /** Turn a campaign that is scheduled, or could not start at its scheduled time, back into a draft */
  unscheduleCampaign: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: CampaignDetailResponse;
  };
  /** Pause a sending campaign */
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
  /** Acknowledge a completed campaign whose bounces or complaints block its domain, and lift the block */
  acknowledgeCampaign: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: CampaignDetailResponse;
  };
  /** Retry failed recipients; a completed campaign resumes */
  retryCampaignRecipients: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: RetryCampaignRecipientsInput;
    reply: RetryCampaignRecipientsResult;
  };
  /** Resend to recipients whose outcome is unknown; some may get the message twice */
  resendCampaignRecipients: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: ResendCampaignRecipientsInput;
    reply: ResendCampaignRecipientsResult;
  };
  /** Resolve recipients whose outcome is unknown; nothing is sent */
  resolveCampaignRecipients: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: ResolveCampaignRecipientsInput;
    reply: ResolveCampaignRecipientsResult;
  };
  /** Cancel a campaign; unsent messages are never sent */
  cancelCampaign: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: CampaignDetailResponse;
  };
  /** List the tracked links of a campaign, with clicks by humans and bots */
  listCampaignLinks: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: CampaignLinkListResponse;
  };
  /** Review a campaign as if it were sent now; changes nothing */
  getCampaignPreflight: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: PreflightResponse;
  };
  /** Send a test of a campaign to a few addresses */
  testCampaign: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: TestCampaignInput;
    reply: TestEmailListResponse;
  };
  /** Send a test of a template, with its unpublished changes, to a few addresses */
  testTemplate: {
    path: {
      /** Template id. */
      id: string;
    };
    query: Record<never, never>;
    body: TestTemplateInput;
    reply: TestEmailListResponse;
  };
  /** Make an A/B test from a draft campaign */
  createAbTest: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: CreateAbTestInput;
    reply: AbTestDetailResponse;
  };
  /** List A/B tests, newest first */
  listAbTests: {
    path: Record<never, never>;
    query: {
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
    };
    body: undefined;
    reply: AbTestListResponse;
  };
  /** Retrieve an A/B test with the figures of its variants */
  getAbTest: {
    path: {
      /** A/B test id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: AbTestDetailResponse;
  };
  /** Change the settings of an A/B test that has not been started */
  updateAbTest: {
    path: {
      /** A/B test id. */
      id: string;
    };
    query: Record<never, never>;
    body: UpdateAbTestInput;
    reply: AbTestDetailResponse;
  };
  /** Delete an A/B test that has not been started */
  deleteAbTest: {
    path: {
      /** A/B test id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: DeletedResponse;
  };
  /** Start an A/B test; its variants are sent in the background */
  startAbTest: {
    path: {
      /** A/B test id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: AbTestDetailResponse;
  };
  /** End a running A/B test with a winner, which the rest of the audience gets */
  chooseAbTestWinner: {
    path: {
      /** A/B test id. */
      id: string;
    };
    query: Record<never, never>;
    body: ChooseAbTestWinnerInput;
    reply: AbTestDetailResponse;
  };
  /** Cancel a running A/B test and what its variants have not sent */
  cancelAbTest: {
    path: {
      /** A/B test id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: AbTestDetailResponse;
  };
  /** List journeys, newest first */
  listJourneys: {
    path: Record<never, never>;
    query: {
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
      /** Only journeys in this state; all except archived ones if omitted. */
      status?: JourneyStatus | undefined;
      /** Part of the name, case-insensitive. */
      search?: string | undefined;
    };
    body: undefined;
    reply: JourneyListResponse;
  };
  /** Save a journey as a draft */
  createJourney: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: CreateJourneyInput;
    reply: JourneyDetailResponse;
  };
  /** Retrieve a journey, its published definition, the problems of its draft, and how contacts move through it */
  getJourney: {
    path: {
      /** Journey id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: JourneyDetailResponse;
  };
  /** Change the name or the draft of a journey */
  updateJourney: {
    path: {
      /** Journey id. */
      id: string;
    };
    query: Record<never, never>;
    body: UpdateJourneyInput;
    reply: JourneyDetailResponse;
  };
  /** List the published versions of a journey, newest first */
  listJourneyVersions: {
    path: {
      /** Journey id. */
      id: string;
    };
    query: {
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
      /** Only this one. */
      number?: number | undefined;
    };
    body: undefined;
    reply: JourneyVersionListResponse;
  };
  /** Publish the draft of a journey and start it */
  publishJourney: {
    path: {
      /** Journey id. */
      id: string;
    };
    query: Record<never, never>;
    body: PublishJourneyInput;
    reply: JourneyResponse;
  };
  /** Pause a journey for all contacts */
  pauseJourney: {
    path: {
      /** Journey id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: JourneyResponse;
  };
  /** Resume a paused journey */
  resumeJourney: {
    path: {
      /** Journey id. */
      id: string;
    };
    query: Record<never, never>;
    body: ResumeJourneyInput;
    reply: JourneyResponse;
  };
  /** End a journey permanently, with all its runs */
  archiveJourney: {
    path: {
      /** Journey id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: JourneyResponse;
  };
  /** Let contacts enter a journey */
  enrollContacts: {
    path: {
      /** Journey id. */
      id: string;
    };
    query: Record<never, never>;
    body: EnrollContactsInput;
    reply: EnrollContactsPayloadResponse;
  };
  /** List the runs of a journey, newest first */
  listEnrollments: {
    path: {
      /** Only runs of this journey. */
      id: string;
    };
    query: {
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
      /** Those of this contact. */
      contact_id?: string | undefined;
      /** Only runs that are at this step, or ended there. */
      step_id?: string | undefined;
      /** Those in this state. */
      status?: EnrollmentStatus | undefined;
    };
    body: undefined;
    reply: EnrollmentListResponse;
  };
  /** Retrieve a run with its last 50 steps */
  getEnrollment: {
    path: {
      /** Enrollment id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: EnrollmentResponse;
  };
  /** List the steps that a run has left, newest first */
  listEnrollmentSteps: {
    path: {
      /** Enrollment id. */
      id: string;
    };
    query: {
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
    };
    body: undefined;
    reply: EnrollmentStepListResponse;
  };
  /** Move the run of a contact to another step */
  moveEnrollment: {
    path: {
      /** Enrollment id. */
      id: string;
    };
    query: Record<never, never>;
    body: MoveEnrollmentInput;
    reply: EnrollmentResponse;
  };
  /** Pause the run of a contact */
  pauseEnrollment: {
    path: {
      /** Enrollment id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: EnrollmentResponse;
  };
  /** Resume the run of a contact */
  resumeEnrollment: {
    path: {
      /** Enrollment id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: EnrollmentResponse;
  };
  /** End the run of a contact */
  removeEnrollment: {
    path: {
      /** Enrollment id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: EnrollmentResponse;
  };
  /** Run a journey against the last days without sending anything */
  startBacktest: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: StartBacktestInput;
    reply: BacktestResponse;
  };
  /** List backtests, newest first */
  listBacktests: {
    path: Record<never, never>;
    query: {
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
      /** Only those of this journey. */
      journey_id?: string | undefined;
    };
    body: undefined;
    reply: BacktestListResponse;
  };
  /** Retrieve a backtest with its figures by step and day */
  getBacktest: {
    path: {
      /** Backtest id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: BacktestDetailResponse;
  };
  /** Cancel a backtest */
  cancelBacktest: {
    path: {
      /** Backtest id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: BacktestResponse;
  };
  /** List the contacts that would have entered, with their steps */
  listBacktestContacts: {
    path: {
      /** Backtest id. */
      id: string;
    };
    query: {
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
      /** The definition that the filters refer to; the candidate by default. */
      side?: BacktestSide | undefined;
      /** Only contacts that reached this step. */
      step_id?: string | undefined;
      /** Only contacts that left the step with this outcome, or are still at it (`waiting`). */
      outcome?: string | undefined;
      /** Only contacts that got the message of the step on this day in UTC, such as 2026-11-25. */
      day?: string | undefined;
      /** Only contacts with this result of a run: `completed`, `exit`, `goal` or `in_progress`; or contacts that got a message (`sent`). */
      result?: 'completed' | 'exit' | 'goal' | 'in_progress' | 'sent' | undefined;
      /** Only contacts whose messages differ in this way. */
      difference?: BacktestDifference | undefined;
      /** Part of the address or name; 1,000 matching contacts at most. */
      search?: string | undefined;
    };
    body: undefined;
    reply: BacktestContactListResponse;
  };
  /** Create a form */
  createForm: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: CreateFormInput;
    reply: FormResponse;
  };
  /** List forms, newest first */
  listForms: {
    path: Record<never, never>;
    query: {
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
      /** Part of the name, case-insensitive. */
      search?: string | undefined;
    };
    body: undefined;
    reply: FormListResponse;
  };
  /** Retrieve a form, its HTML for other sites and its number of submissions */
  getForm: {
    path: {
      /** Form id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: FormDetailResponse;
  };
  /** Change a form */
  updateForm: {
    path: {
      /** Form id. */
      id: string;
    };
    query: Record<never, never>;
    body: UpdateFormInput;
    reply: FormResponse;
  };
  /** Delete a form with its submissions */
  deleteForm: {
    path: {
      /** Form id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: DeletedResponse;
  };
  /** List the submissions of a form, newest first */
  listFormSubmissions: {
    path: {
      /** Form id. */
      id: string;
    };
    query: {
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
      /** Only submissions in this state. */
      status?: FormSubmissionStatus | undefined;
      /** Only submissions of this address. */
      email?: string | undefined;
    };
    body: undefined;
    reply: FormSubmissionListResponse;
  };
  /** List the recipients of a campaign by state, outcome, clicked link or address */
  listCampaignRecipients: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: {
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
      /** Only those in this state. */
      state?: RecipientState | undefined;
      /** Only those whose message had this outcome. */
      outcome?: RecipientOutcome | undefined;
      /** Only those whose message bounced for this reason. */
      bounce_class?: BounceClass | undefined;
      /** The position of a link in `campaignLinks`: only those who clicked it, or `clicked_by_machines`. */
      link?: number | undefined;
      /** Only this address, without regard to case. */
      email?: string | undefined;
      /** Only addresses that contain this text, without regard to case. A page may end before it is full: the next one continues the search. Contacts that were deleted, or whose address changed, are found by the beginning of the address. */
      search?: string | undefined;
    };
    body: undefined;
    reply: CampaignRecipientListResponse;
  };
  /** Create a group from recipients of a campaign */
  createGroupFromRecipients: {
    path: {
      /** Campaign id. */
      id: string;
    };
    query: Record<never, never>;
    body: CreateGroupFromRecipientsInput;
    reply: GroupSummaryResponse;
  };
  /** List templates, newest first */
  listTemplates: {
    path: Record<never, never>;
    query: {
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
      /** Part of the name, case-insensitive. */
      search?: string | undefined;
      /** Only templates in this state. */
      status?: TemplateStatus | undefined;
    };
    body: undefined;
    reply: TemplateListResponse;
  };
  /** Create a template as a draft */
  createTemplate: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: CreateTemplateInput;
    reply: TemplateDetailResponse;
  };
  /** Retrieve a template */
  getTemplate: {
    path: {
      /** Template id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: TemplateDetailResponse;
  };
  /** Update a template; of a published one, its draft */
  updateTemplate: {
    path: {
      /** Template id. */
      id: string;
    };
    query: Record<never, never>;
    body: UpdateTemplateInput;
    reply: TemplateDetailResponse;
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
  /** Publish a template, or the draft of a published one */
  publishTemplate: {
    path: {
      /** Template id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: TemplateDetailResponse;
  };
  /** Discard the draft of a published template */
  discardTemplateDraft: {
    path: {
      /** Template id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: DeletedResponse;
  };
  /** List the versions of a template, newest first */
  listTemplateVersions: {
    path: {
      /** Template id. */
      id: string;
    };
    query: {
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
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
  /** Restore a version of a template as a new version; of a published template, as its draft */
  restoreTemplateVersion: {
    path: {
      /** Template id. */
      id: string;
      /** Version id. */
      version_id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: TemplateDetailResponse;
  };
  /** List the sending domains of a project */
  listDomains: {
    path: {
      /** Project id. */
      id: string;
    };
    query: {
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
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
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
    };
    body: undefined;
    reply: WebhookEndpointListResponse;
  };
  /** Register a webhook endpoint; its signing secret is returned only once */
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
  /** Update the URL, event types or description of an endpoint */
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
  /** Enable an endpoint, unless it was disabled automatically */
  enableWebhookEndpoint: {
    path: {
      /** Endpoint id. */
      id: string;
    };
    query: Record<never, never>;
    body: EnableWebhookEndpointInput;
    reply: WebhookEndpointResponse;
  };
  /** Disable an endpoint and keep its queued deliveries */
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
  /** Replay the failed deliveries of an endpoint since a time */
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
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
      /** Only those in this state. */
      state?: DeliveryState | undefined;
      /** Only those of events of this type. */
      event_type?: 'contact.created' | 'contact.updated' | 'contact.subscribed' | 'contact.unsubscribed' | 'contact.deleted' | 'email.sent' | 'email.failed' | 'email.delivered' | 'email.opened' | 'email.clicked' | 'email.bounced' | 'email.complained' | 'email.rejected' | 'campaign.started' | 'campaign.completed' | 'campaign.paused' | 'webhook.test' | 'custom_event.received' | 'import.completed' | 'import.failed' | 'import.canceled' | 'campaign.scheduled' | 'campaign.unscheduled' | 'campaign.paused_manually' | 'campaign.resumed' | 'campaign.canceled' | 'ab_test.completed' | 'ab_test.canceled' | 'form.confirmed' | undefined;
    };
    body: undefined;
    reply: WebhookDeliveryListResponse;
  };
  /** List the project's deliveries, newest first */
  listDeliveries: {
    path: Record<never, never>;
    query: {
      /** Maximum number of results. */
      limit?: number | undefined;
      /** The `next_cursor` of the previous page. */
      cursor?: string | undefined;
      /** Whether to return `total`, the number of all results, counted up to 100000. */
      total?: boolean | undefined;
      /** Only those in this state. */
      state?: DeliveryState | undefined;
      /** Only those of this event. */
      event_id?: string | undefined;
      /** Only those of events of this type. */
      event_type?: 'contact.created' | 'contact.updated' | 'contact.subscribed' | 'contact.unsubscribed' | 'contact.deleted' | 'email.sent' | 'email.failed' | 'email.delivered' | 'email.opened' | 'email.clicked' | 'email.bounced' | 'email.complained' | 'email.rejected' | 'campaign.started' | 'campaign.completed' | 'campaign.paused' | 'webhook.test' | 'custom_event.received' | 'import.completed' | 'import.failed' | 'import.canceled' | 'campaign.scheduled' | 'campaign.unscheduled' | 'campaign.paused_manually' | 'campaign.resumed' | 'campaign.canceled' | 'ab_test.completed' | 'ab_test.canceled' | 'form.confirmed' | undefined;
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
  /** Make no further attempt of a delivery that is waiting for one */
  giveUpWebhookDelivery: {
    path: {
      /** A delivery in state `retried`. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: WebhookDeliveryResponse;
  };
  /** Replay an event as a new delivery */
  replayWebhookDelivery: {
    path: {
      /** An acknowledged or failed delivery. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: WebhookDeliveryResponse;
  };
  /** Download the row errors of an import */
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
      /** Starts the file with a byte order mark, which tells Excel that it is UTF-8. Files that the dashboard downloads have one. */
      bom?: boolean | undefined;
      /** Added after this instant. */
      created_after?: string | undefined;
      /** Added before this instant. */
      created_before?: string | undefined;
      /** The full address, case-insensitive. */
      email?: string | undefined;
      /** Members of this group. */
      group_id?: string | undefined;
      /** Only these contacts; at most 1,000. */
      ids?: string[] | undefined;
      /** Exports values unchanged. By default, values that a spreadsheet would run as a formula are prefixed with a `'`. */
      raw?: boolean | undefined;
      /** Part of the address or name, case-insensitive. */
      search?: string | undefined;
      /** Contacts in this segment. */
      segment_id?: string | undefined;
      /** Where they came from. */
      source?: ContactSource | undefined;
      /** True for suppressed contacts, false for the others. */
      suppressed?: boolean | undefined;
      /** Contacts that match this segment filter, which is not saved. An object, written as JSON. */
      where?: unknown | undefined;
    };
    body: undefined;
    reply: ReadableStream<Uint8Array>;
  };
  /** Export suppressions as a CSV file, newest first */
  exportSuppressions: {
    path: Record<never, never>;
    query: {
      /** Suppressions with this reason. */
      reason?: SuppressionReason | undefined;
    };
    body: undefined;
    reply: ReadableStream<Uint8Array>;
  };
  /** Export the simulated steps of contacts as a CSV file */
  exportBacktestContacts: {
    path: {
      /** The id of the row. */
      id: string;
    };
    query: {
      /** Only contacts that got the message of the step on this day in UTC, such as 2026-11-25. */
      day?: string | undefined;
      /** Only contacts whose messages differ in this way. */
      difference?: BacktestDifference | undefined;
      /** Only contacts that left the step with this outcome, or are still at it (`waiting`). */
      outcome?: string | undefined;
      /** Only contacts with this result of a run: `completed`, `exit`, `goal` or `in_progress`; or contacts that got a message (`sent`). */
      result?: 'completed' | 'exit' | 'goal' | 'in_progress' | 'sent' | undefined;
      /** Part of the address or name; 1,000 matching contacts at most. */
      search?: string | undefined;
      /** The definition that the filters refer to; the candidate by default. */
      side?: BacktestSide | undefined;
      /** Only contacts that reached this step. */
      step_id?: string | undefined;
    };
    body: undefined;
    reply: ReadableStream<Uint8Array>;
  };
  /** Export recipients of a campaign as a CSV file, newest first */
  exportCampaignRecipients: {
    path: {
      /** The id of the row. */
      id: string;
    };
    query: {
      /** Only those whose message bounced for this reason. */
      bounce_class?: BounceClass | undefined;
      /** Only this address, without regard to case. */
      email?: string | undefined;
      /** The position of a link in `campaignLinks`: only those who clicked it, or `clicked_by_machines`. */
      link?: number | undefined;
      /** Only those whose message had this outcome. */
      outcome?: RecipientOutcome | undefined;
      /** Only addresses that contain this text, without regard to case. A page may end before it is full: the next one continues the search. Contacts that were deleted, or whose address changed, are found by the beginning of the address. */
      search?: string | undefined;
      /** Only those in this state. */
      state?: RecipientState | undefined;
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
  addSuppressions: 'POST /v1/suppressions/batch',
  getSuppression: 'GET /v1/suppressions/{id}',
  removeSuppression: 'DELETE /v1/suppressions/{id}',
  listSegments: 'GET /v1/segments',
  createSegment: 'POST /v1/segments',
  getSegmentPreview: 'POST /v1/segments/preview',
  getSegment: 'GET /v1/segments/{id}',
  updateSegment: 'PATCH /v1/segments/{id}',
  deleteSegment: 'DELETE /v1/segments/{id}',
  listSegmentSizes: 'GET /v1/segments/{id}/sizes',
  listSegmentContacts: 'GET /v1/segments/{id}/contacts',
  getPersonData: 'GET /v1/contacts/{id}/data',
  erasePerson: 'POST /v1/contacts/{id}/erase',
  trackEvents: 'POST /v1/events',
  listCustomEvents: 'GET /v1/events',
  listCustomEventDefinitions: 'GET /v1/event-definitions',
  getCustomEventDefinition: 'GET /v1/event-definitions/{id}',
  updateCustomEventDefinition: 'PATCH /v1/event-definitions/{id}',
  deleteCustomEventDefinition: 'DELETE /v1/event-definitions/{id}',
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
  executeDryRun: 'POST /v1/imports/{id}/execute',
  listBulkOperations: 'GET /v1/bulk-operations',
  startBulkOperation: 'POST /v1/bulk-operations',
  getBulkOperation: 'GET /v1/bulk-operations/{id}',
  cancelBulkOperation: 'POST /v1/bulk-operations/{id}/cancel',
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
  listCampaignLinks: 'GET /v1/campaigns/{id}/links',
  getCampaignPreflight: 'POST /v1/campaigns/{id}/preflight',
  testCampaign: 'POST /v1/campaigns/{id}/test',
  testTemplate: 'POST /v1/templates/{id}/test',
  createAbTest: 'POST /v1/ab-tests',
  listAbTests: 'GET /v1/ab-tests',
  getAbTest: 'GET /v1/ab-tests/{id}',
  updateAbTest: 'PATCH /v1/ab-tests/{id}',
  deleteAbTest: 'DELETE /v1/ab-tests/{id}',
  startAbTest: 'POST /v1/ab-tests/{id}/start',
  chooseAbTestWinner: 'POST /v1/ab-tests/{id}/choose-winner',
  cancelAbTest: 'POST /v1/ab-tests/{id}/cancel',
  listJourneys: 'GET /v1/journeys',
  createJourney: 'POST /v1/journeys',
  getJourney: 'GET /v1/journeys/{id}',
  updateJourney: 'PATCH /v1/journeys/{id}',
  listJourneyVersions: 'GET /v1/journeys/{id}/versions',
  publishJourney: 'POST /v1/journeys/{id}/publish',
  pauseJourney: 'POST /v1/journeys/{id}/pause',
  resumeJourney: 'POST /v1/journeys/{id}/resume',
  archiveJourney: 'POST /v1/journeys/{id}/archive',
  enrollContacts: 'POST /v1/journeys/{id}/enrollments',
  listEnrollments: 'GET /v1/journeys/{id}/enrollments',
  getEnrollment: 'GET /v1/enrollments/{id}',
  listEnrollmentSteps: 'GET /v1/enrollments/{id}/steps',
  moveEnrollment: 'POST /v1/enrollments/{id}/move',
  pauseEnrollment: 'POST /v1/enrollments/{id}/pause',
  resumeEnrollment: 'POST /v1/enrollments/{id}/resume',
  removeEnrollment: 'POST /v1/enrollments/{id}/remove',
  startBacktest: 'POST /v1/backtests',
  listBacktests: 'GET /v1/backtests',
  getBacktest: 'GET /v1/backtests/{id}',
  cancelBacktest: 'POST /v1/backtests/{id}/cancel',
  listBacktestContacts: 'GET /v1/backtests/{id}/contacts',
  createForm: 'POST /v1/forms',
  listForms: 'GET /v1/forms',
  getForm: 'GET /v1/forms/{id}',
  updateForm: 'PATCH /v1/forms/{id}',
  deleteForm: 'DELETE /v1/forms/{id}',
  listFormSubmissions: 'GET /v1/forms/{id}/submissions',
  listCampaignRecipients: 'GET /v1/campaigns/{id}/recipients',
  createGroupFromRecipients: 'POST /v1/campaigns/{id}/recipients/group',
  listTemplates: 'GET /v1/templates',
  createTemplate: 'POST /v1/templates',
  getTemplate: 'GET /v1/templates/{id}',
  updateTemplate: 'PATCH /v1/templates/{id}',
  deleteTemplate: 'DELETE /v1/templates/{id}',
  publishTemplate: 'POST /v1/templates/{id}/publish',
  discardTemplateDraft: 'DELETE /v1/templates/{id}/draft',
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
  giveUpWebhookDelivery: 'POST /v1/deliveries/{id}/give-up',
  replayWebhookDelivery: 'POST /v1/deliveries/{id}/replay',
  downloadImportErrors: 'GET /v1/imports/{id}/errors',
  exportContacts: 'GET /v1/contacts/export',
  exportSuppressions: 'GET /v1/suppressions/export',
  exportBacktestContacts: 'GET /v1/backtests/{id}/contacts/export',
  exportCampaignRecipients: 'GET /v1/campaigns/{id}/recipients/export',
} as const satisfies Record<keyof Operations, string>;
