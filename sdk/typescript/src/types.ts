// Written by `npm run generate -w sdk/typescript` from the OpenAPI document; not edited by hand.

/** What went wrong, for programs (`code`, `details[].field`) and for people (`message`). */
export interface Error {
  error: {
    /** What kind of error it is. */
    code:
      | 'validation_error'
      | 'unauthorized'
      | 'insufficient_scope'
      | 'forbidden'
      | 'not_found'
      | 'method_not_allowed'
      | 'conflict'
      | 'idempotency_conflict'
      | 'payload_too_large'
      | 'unsupported_media_type'
      | 'rate_limited'
      | 'internal_error';
    /** A sentence for the people who read it. */
    message: string;
    /** The value of the `X-Request-Id` header. */
    request_id: string;
    /** What is wrong with which field; empty when it is not about fields. */
    details: {
      /** A path into the request, such as `contacts.3.email`. */
      field: string;
      /** What is wrong with it. */
      message: string;
    }[];
  };
}

/** A workspace with its own contacts, campaigns and keys. Every request acts on exactly one. */
export interface Project {
  /** Project id: what `X-Project-Id` takes. */
  id: string;
  /** What people call it. */
  name: string;
  /** When it was created. */
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
  /** Whether it is mailed, and why not. */
  suppressionStatus: SuppressionStatus;
  /** Values by custom-field key. */
  customFields: unknown;
  /** When it was added. */
  createdAt: string;
  /** When its own fields last changed. */
  updatedAt: string;
}

/** A new contact. */
export interface CreateContactInput {
  /** An object of values by key, coerced against the project's custom fields. */
  custom_fields?: unknown | undefined;
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

/** What happens to a contact that exists: nothing, or the name and the custom fields given are written. */
export type OnConflict = 'skip' | 'update';

/** Many contacts at once. */
export interface CreateContactsBatchInput {
  /** Up to 1,000 contacts. */
  contacts: BatchContactInput[];
  /** `skip` unless it says. */
  on_conflict?: OnConflict | null | undefined;
}

/** What became of a contact of a batch. */
export type BatchContactStatus = 'created' | 'error' | 'existing' | 'updated';

/** What is wrong with a contact of a batch. */
export interface BatchContactError {
  /** Its path in the contact, such as `email` or `customFields.plan`. */
  field: string;
  /** What is wrong with it. */
  message: string;
}

/** What to change; what is not given stays. */
export interface UpdateContactInput {
  /** Replaces all values. */
  custom_fields?: unknown | undefined;
  /** A new address; no other contact's, and not suppressed. */
  email?: string | null | undefined;
  /** A new name; blank for the local part of the address. */
  name?: string | null | undefined;
  /** False adds an unsubscribe suppression for the address, true clears it. */
  subscribed?: boolean | null | undefined;
}

/** What a custom field holds. */
export type CustomFieldType = 'boolean' | 'date' | 'number' | 'select' | 'text';

/** One key of the project's custom-field schema. */
export interface CustomField {
  /** Custom field id. */
  id: string;
  /** What `customFields` of a contact and placeholders call it. */
  key: string;
  /** What people call it. */
  label: string;
  /** What it holds. */
  type: CustomFieldType;
  /** The values allowed when the type is `select`. */
  options: string[];
  /** When it was added. */
  createdAt: string;
}

/** A new custom field. */
export interface CreateCustomFieldInput {
  /** A letter, then at most 63 letters, digits and underscores; unique within the project. */
  key: string;
  /** What people call it; the key when it is not given. */
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

/** An address not to be mailed. */
export interface AddSuppressionInput {
  /** The address, a contact's or not. */
  email: string;
  /** `manual` unless it says; the others are for lists brought along from elsewhere. */
  reason?: SuppressionReason | null | undefined;
}

/** A saved filter over contacts. Who is in it follows from what they are now. */
export interface Segment {
  /** Segment id. */
  id: string;
  /** Unique within the project. */
  name: string;
  /** A condition `{field, op, value}`, or filters put together by `and`, `or`, `not`; see the page on segments. */
  filter: unknown;
  /** When it was saved. */
  createdAt: string;
  /** When its name or filter last changed. */
  updatedAt: string;
}

/** A new segment. */
export interface CreateSegmentInput {
  /** A condition `{field, op, value}`, or filters put together by `and`, `or`, `not`; see the page on segments. */
  filter: unknown;
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

/** A saved filter over contacts. Who is in it follows from what they are now. */
export interface SegmentDetail {
  /** Segment id. */
  id: string;
  /** Unique within the project. */
  name: string;
  /** A condition `{field, op, value}`, or filters put together by `and`, `or`, `not`; see the page on segments. */
  filter: unknown;
  /** When it was saved. */
  createdAt: string;
  /** When its name or filter last changed. */
  updatedAt: string;
  /** How many contacts are in it now. It is counted when asked for. */
  contactCount: number;
}

/** What to change; what is not given stays. */
export interface UpdateSegmentInput {
  /** Replaces the filter. */
  filter?: unknown | undefined;
  /** A new name, unique within the project. */
  name?: string | null | undefined;
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

/** A new group. At least one of the ids or addresses must be an existing contact. */
export interface CreateGroupInput {
  /** Contact ids; those that name nobody are ignored. */
  contact_ids?: string[] | null | undefined;
  /** Addresses, matched to existing contacts without regard to case. */
  emails?: string[] | null | undefined;
  /** Unique within the project; 1 to 200 characters. */
  name: string;
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

/** What to change; what is not given stays. */
export interface UpdateGroupInput {
  /** Replaces the whole member list. */
  contact_ids?: string[] | null | undefined;
  /** A new name, unique within the project. */
  name?: string | null | undefined;
}

/** The contacts to add, by id, by address or both. */
export interface AddContactsInput {
  /** Contact ids; those that name nobody are ignored. */
  contact_ids?: string[] | null | undefined;
  /** Addresses, matched to existing contacts without regard to case. */
  emails?: string[] | null | undefined;
}

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
  /** Whether it is ready to be sent. */
  status: TemplateStatus;
  /** When it was created. */
  createdAt: string;
  /** When it last changed. */
  updatedAt: string;
}

/** A new template; it begins as a draft. */
export interface CreateTemplateInput {
  /** HTML with placeholders such as `{{name|there}}`. */
  body: string;
  /** Unique within the project; 1 to 200 characters. */
  name: string;
  /** The subject to start from; placeholders allowed. */
  subject?: string | null | undefined;
}

/** What to change; what is not given stays. */
export interface UpdateTemplateInput {
  /** New HTML. */
  body?: string | null | undefined;
  /** A new name, unique within the project. */
  name?: string | null | undefined;
  /** A new subject; null removes it. */
  subject?: string | null | undefined;
}

/**
 * How the check of one part of a domain stands.
 *
 * - `failed`: Given up.
 * - `failing`: Was verified and is not any more; there is still time to mend it.
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

/** A DNS record to publish. */
export interface DnsRecord {
  /** What it is for. */
  purpose: string;
  /** Record type, such as TXT. */
  type: string;
  /** Full name of the record. */
  name: string;
  /** What to publish. */
  value: string;
}

/** Something that happened to a domain. */
export interface LifecycleEvent {
  /** When. */
  at: string;
  /** Such as `added`, `verified`, `failing`, `failed`, `checkRequested`. */
  type: string;
  /** `dkim`, `mailFrom`, `dmarc`, or `domain` for the whole. */
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
  /** Open deliverability recommendations. */
  recommendations: unknown;
  /** The DNS provider that was detected. */
  dnsProvider: string | null;
  /** What happened to the domain, newest first; at most the last 200. */
  lifecycle: LifecycleEvent[];
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
  /** Since when no attempt has been acknowledged; null when the last one was. */
  failingSince: string | null;
  /** When it was created. */
  createdAt: string;
  /** When it last changed. */
  updatedAt: string;
}

/** A new webhook endpoint. */
export interface CreateWebhookEndpointInput {
  /** What it is for; at most 500 characters. */
  description?: string | null | undefined;
  /** Event types, or `["*"]` for all current and future types. */
  events: string[];
  /** An HTTPS URL that is reachable from the Internet. */
  url: string;
}

/** What to change; what is not given stays. */
export interface UpdateWebhookEndpointInput {
  /** What it is for; an empty text removes it. */
  description?: string | null | undefined;
  /** Event types, or `["*"]`; replaces those before. */
  events?: string[] | null | undefined;
  /** An HTTPS URL that is reachable from the Internet. */
  url?: string | null | undefined;
}

/** The test event that was queued. */
export interface SendTestWebhookPayload {
  /** The event. */
  eventId: string;
  /** Its delivery. */
  deliveryId: string;
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

/** What a delivery carries: the body that is posted, in parts. */
export interface WebhookEvent {
  /** Event id: what receivers deduplicate on. */
  id: string;
  /** Event type. */
  type: string;
  /** When it happened. */
  created: string;
  /** Its members; which, depends on the type. */
  data: unknown;
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
  headers: unknown;
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

/** A contact is added (manually or by import). */
export interface ContactCreatedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'contact.created';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: {
    /** Contact id. */
    contact_id: string;
    /** The address, as it is now. */
    email: string;
    /** What the contact is called. */
    name: string;
  };
}

/** A contact's name, email or group membership changes. */
export interface ContactUpdatedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'contact.updated';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: {
    /** Contact id. */
    contact_id: string;
    /** The address, as it is now. */
    email: string;
    /** What the contact is called. */
    name: string;
  };
}

/** A contact is subscribed or resubscribed. */
export interface ContactSubscribedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'contact.subscribed';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: {
    /** Contact id. */
    contact_id: string;
    /** The address, as it is now. */
    email: string;
    /** What the contact is called. */
    name: string;
  };
}

/** A contact unsubscribes. */
export interface ContactUnsubscribedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'contact.unsubscribed';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: {
    /** Contact id. */
    contact_id: string;
    /** The address, as it is now. */
    email: string;
    /** What the contact is called. */
    name: string;
  };
}

/** A contact is deleted. */
export interface ContactDeletedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'contact.deleted';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: {
    /** Contact id. */
    contact_id: string;
    /** The address, as it is now. */
    email: string;
    /** What the contact is called. */
    name: string;
  };
}

/** A message is accepted for sending. */
export interface EmailSentEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'email.sent';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: {
    /** The recipient's address. */
    email: string;
    /** Id of the message, the same in every event about it. */
    message_id: string;
    /** The subject, with placeholders filled in. */
    subject: string;
    /** The campaign it belongs to; null for a transactional email. */
    campaign_id: string | null;
    /** The contact it went to, when it is one. */
    contact_id?: string | null | undefined;
    /** What the sender gave as `metadata`, unchanged. */
    metadata?: Record<string, unknown> | undefined;
  };
}

/** A message fails to send. */
export interface EmailFailedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'email.failed';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: {
    /** The recipient's address. */
    email: string;
    /** Id of the message, the same in every event about it. */
    message_id: string;
    /** The subject, with placeholders filled in. */
    subject: string;
    /** The campaign it belongs to; null for a transactional email. */
    campaign_id: string | null;
    /** The contact it went to, when it is one. */
    contact_id?: string | null | undefined;
    /** What the sender gave as `metadata`, unchanged. */
    metadata?: Record<string, unknown> | undefined;
    /** Why, in the words of the server or of Postroom. */
    reason: string;
  };
}

/** The receiving server accepted the message. */
export interface EmailDeliveredEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'email.delivered';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: {
    /** The recipient's address. */
    email: string;
    /** Id of the message, the same in every event about it. */
    message_id: string;
    /** The subject, with placeholders filled in. */
    subject: string;
    /** The campaign it belongs to; null for a transactional email. */
    campaign_id: string | null;
    /** The contact it went to, when it is one. */
    contact_id?: string | null | undefined;
    /** What the sender gave as `metadata`, unchanged. */
    metadata?: Record<string, unknown> | undefined;
  };
}

/** The recipient opened the message. */
export interface EmailOpenedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'email.opened';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: {
    /** The recipient's address. */
    email: string;
    /** Id of the message, the same in every event about it. */
    message_id: string;
    /** The subject, with placeholders filled in. */
    subject: string;
    /** The campaign it belongs to; null for a transactional email. */
    campaign_id: string | null;
    /** The contact it went to, when it is one. */
    contact_id?: string | null | undefined;
    /** What the sender gave as `metadata`, unchanged. */
    metadata?: Record<string, unknown> | undefined;
    /** Whether it looks like a program: a prefetcher or a security scanner. */
    machine?: boolean | undefined;
    /** What the program said it is. */
    user_agent?: string | null | undefined;
  };
}

/** The recipient clicked a tracked link. */
export interface EmailClickedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'email.clicked';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: {
    /** The recipient's address. */
    email: string;
    /** Id of the message, the same in every event about it. */
    message_id: string;
    /** The subject, with placeholders filled in. */
    subject: string;
    /** The campaign it belongs to; null for a transactional email. */
    campaign_id: string | null;
    /** The contact it went to, when it is one. */
    contact_id?: string | null | undefined;
    /** What the sender gave as `metadata`, unchanged. */
    metadata?: Record<string, unknown> | undefined;
    /** Where the link leads. */
    url: string;
    /** Whether it looks like a program: a prefetcher or a security scanner. */
    machine?: boolean | undefined;
    /** What the program said it is. */
    user_agent?: string | null | undefined;
  };
}

/** The message bounced. */
export interface EmailBouncedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'email.bounced';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: {
    /** The recipient's address. */
    email: string;
    /** Id of the message, the same in every event about it. */
    message_id: string;
    /** The subject, with placeholders filled in. */
    subject: string;
    /** The campaign it belongs to; null for a transactional email. */
    campaign_id: string | null;
    /** The contact it went to, when it is one. */
    contact_id?: string | null | undefined;
    /** What the sender gave as `metadata`, unchanged. */
    metadata?: Record<string, unknown> | undefined;
    /** Why, in the words of the server or of Postroom. */
    reason: string;
  };
}

/** The recipient marked it as spam. */
export interface EmailComplainedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'email.complained';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: {
    /** The recipient's address. */
    email: string;
    /** Id of the message, the same in every event about it. */
    message_id: string;
    /** The subject, with placeholders filled in. */
    subject: string;
    /** The campaign it belongs to; null for a transactional email. */
    campaign_id: string | null;
    /** The contact it went to, when it is one. */
    contact_id?: string | null | undefined;
    /** What the sender gave as `metadata`, unchanged. */
    metadata?: Record<string, unknown> | undefined;
  };
}

/** The sending provider rejected the message (for example a detected virus). */
export interface EmailRejectedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'email.rejected';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: {
    /** The recipient's address. */
    email: string;
    /** Id of the message, the same in every event about it. */
    message_id: string;
    /** The subject, with placeholders filled in. */
    subject: string;
    /** The campaign it belongs to; null for a transactional email. */
    campaign_id: string | null;
    /** The contact it went to, when it is one. */
    contact_id?: string | null | undefined;
    /** What the sender gave as `metadata`, unchanged. */
    metadata?: Record<string, unknown> | undefined;
    /** Why, in the words of the server or of Postroom. */
    reason: string;
  };
}

/** A campaign began sending. */
export interface CampaignStartedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'campaign.started';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: {
    /** Campaign id. */
    campaign_id: string;
    /** The campaign's name. */
    name: string;
    /** How many people it goes to. */
    recipients: number;
  };
}

/** A campaign finished sending to all recipients. */
export interface CampaignCompletedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'campaign.completed';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: {
    /** Campaign id. */
    campaign_id: string;
    /** The campaign's name. */
    name: string;
    sent: number;
    delivered: number;
    failed: number;
  };
}

/** A campaign was auto-paused (for example by warmup safety). */
export interface CampaignPausedEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'campaign.paused';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: {
    /** Campaign id. */
    campaign_id: string;
    /** The campaign's name. */
    name: string;
    /** Why, in the words of the server or of Postroom. */
    reason: string;
  };
}

/** A sample event queued on request for testing. */
export interface WebhookTestEvent {
  /** Event id; the same event may be delivered more than once, so deduplicate on it. */
  id: string;
  type: 'webhook.test';
  /** ISO 8601, UTC, with milliseconds. */
  created: string;
  project_id: string;
  data: {
    /** The endpoint under test; it alone gets the event. */
    endpoint_id: string;
    /** A greeting. */
    message: string;
  };
}

/** What a webhook delivers: one member an event type. Types may be added later, so have a `default` branch. */
export type PostroomEvent =
  | ContactCreatedEvent
  | ContactUpdatedEvent
  | ContactSubscribedEvent
  | ContactUnsubscribedEvent
  | ContactDeletedEvent
  | EmailSentEvent
  | EmailFailedEvent
  | EmailDeliveredEvent
  | EmailOpenedEvent
  | EmailClickedEvent
  | EmailBouncedEvent
  | EmailComplainedEvent
  | EmailRejectedEvent
  | CampaignStartedEvent
  | CampaignCompletedEvent
  | CampaignPausedEvent
  | WebhookTestEvent;

/** What each operation of the API takes and answers with, by its `operationId`. */
export interface Operations {
  /** List the projects the key can act on */
  listProjects: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: {
      /** The projects the key can act on, newest first. */
      data: Project[];
    };
  };
  /** List contacts, newest first */
  listContacts: {
    path: Record<never, never>;
    query: {
      /** How many to return at most. */
      limit?: number | undefined;
      /** The `next_cursor` of the page before. */
      cursor?: string | undefined;
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
    reply: {
      data: Contact[];
      /** Whether there is a next page. */
      has_more: boolean;
      /** What to give as `cursor` for the next page; null on the last one. */
      next_cursor: string | null;
    };
  };
  /** Create a contact, or find the one that has the address */
  createContact: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: CreateContactInput;
    reply: {
      /** The new contact, or the one that was there. */
      data: Contact;
    };
  };
  /** Create up to 1,000 contacts, each with its own result */
  createContacts: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: CreateContactsBatchInput;
    reply: {
      data: {
        /** Its place in the request, from 0. */
        index: number;
        /** What became of it. */
        status: BatchContactStatus;
        /** Contact id; null for an error. */
        id: string | null;
        error?: (BatchContactError & Record<string, unknown>) | undefined;
      }[];
    };
  };
  /** Retrieve a contact */
  getContact: {
    path: {
      /** Contact id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: {
      /** A contact of the project; `not_found` when there is none. */
      data: Contact;
    };
  };
  /** Change a contact, unsubscribe or resubscribe it */
  updateContact: {
    path: {
      /** Contact id. */
      id: string;
    };
    query: Record<never, never>;
    body: UpdateContactInput;
    reply: {
      /** Changes what is given. `conflict` when the new address is taken or suppressed. */
      data: Contact;
    };
  };
  /** Delete a contact for good */
  deleteContact: {
    path: {
      /** Contact id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: {
      /** It is gone. */
      deleted: true;
    };
  };
  /** List the custom-field schema, newest field first */
  listCustomFields: {
    path: Record<never, never>;
    query: {
      /** How many to return at most. */
      limit?: number | undefined;
      /** The `next_cursor` of the page before. */
      cursor?: string | undefined;
    };
    body: undefined;
    reply: {
      data: CustomField[];
      /** Whether there is a next page. */
      has_more: boolean;
      /** What to give as `cursor` for the next page; null on the last one. */
      next_cursor: string | null;
    };
  };
  /** Add a custom field */
  createCustomField: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: CreateCustomFieldInput;
    reply: {
      /** Adds a key to the custom-field schema. `conflict` when it is taken. */
      data: CustomField;
    };
  };
  /** Retrieve a custom field */
  getCustomField: {
    path: {
      /** Custom field id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: {
      /** A custom field of the project; `not_found` when there is none. */
      data: CustomField;
    };
  };
  /** Change the label or the options of a custom field */
  updateCustomField: {
    path: {
      /** Custom field id. */
      id: string;
    };
    query: Record<never, never>;
    body: UpdateCustomFieldInput;
    reply: {
      /** Changes the label or the options of a custom field. */
      data: CustomField;
    };
  };
  /** Remove a custom field and its values */
  deleteCustomField: {
    path: {
      /** Custom field id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: {
      /** It is gone. */
      deleted: true;
    };
  };
  /** List suppressions, newest first */
  listSuppressions: {
    path: Record<never, never>;
    query: {
      /** How many to return at most. */
      limit?: number | undefined;
      /** The `next_cursor` of the page before. */
      cursor?: string | undefined;
      /** Those of this address, without regard to case. */
      email?: string | undefined;
      /** Those for this reason. */
      reason?: SuppressionReason | undefined;
    };
    body: undefined;
    reply: {
      data: Suppression[];
      /** Whether there is a next page. */
      has_more: boolean;
      /** What to give as `cursor` for the next page; null on the last one. */
      next_cursor: string | null;
    };
  };
  /** Keep an address from being mailed */
  addSuppression: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: AddSuppressionInput;
    reply: {
      /** The new one, or the one that was there. */
      data: Suppression;
    };
  };
  /** Retrieve a suppression */
  getSuppression: {
    path: {
      /** Suppression id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: {
      /** A suppression of the project; `not_found` when there is none. */
      data: Suppression;
    };
  };
  /** Remove a reason not to mail an address */
  removeSuppression: {
    path: {
      /** Suppression id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: {
      /** It is gone. */
      deleted: true;
    };
  };
  /** List segments, newest first */
  listSegments: {
    path: Record<never, never>;
    query: {
      /** How many to return at most. */
      limit?: number | undefined;
      /** The `next_cursor` of the page before. */
      cursor?: string | undefined;
    };
    body: undefined;
    reply: {
      data: Segment[];
      /** Whether there is a next page. */
      has_more: boolean;
      /** What to give as `cursor` for the next page; null on the last one. */
      next_cursor: string | null;
    };
  };
  /** Save a filter over contacts */
  createSegment: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: CreateSegmentInput;
    reply: {
      /** Saves a filter under a name. `conflict` when the name is taken. */
      data: Segment;
    };
  };
  /** Try a filter without saving it: how many contacts, and the ten newest */
  getSegmentPreview: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: {
      /** A condition `{field, op, value}`, or filters put together by `and`, `or`, `not`; see the page on segments. */
      filter: unknown;
    };
    reply: {
      /** Tries a filter without saving it. */
      data: SegmentPreview;
    };
  };
  /** Retrieve a segment and how many contacts are in it */
  getSegment: {
    path: {
      /** Segment id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: {
      /** A segment of the project; `not_found` when there is none. */
      data: SegmentDetail;
    };
  };
  /** Rename a segment or replace its filter */
  updateSegment: {
    path: {
      /** Segment id. */
      id: string;
    };
    query: Record<never, never>;
    body: UpdateSegmentInput;
    reply: {
      /** Renames a segment or replaces its filter. */
      data: Segment;
    };
  };
  /** Delete a segment; its contacts stay */
  deleteSegment: {
    path: {
      /** Segment id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: {
      /** It is gone. */
      deleted: true;
    };
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
    };
    body: undefined;
    reply: {
      data: Contact[];
      /** Whether there is a next page. */
      has_more: boolean;
      /** What to give as `cursor` for the next page; null on the last one. */
      next_cursor: string | null;
    };
  };
  /** List groups, newest first */
  listGroups: {
    path: Record<never, never>;
    query: {
      /** How many to return at most. */
      limit?: number | undefined;
      /** The `next_cursor` of the page before. */
      cursor?: string | undefined;
    };
    body: undefined;
    reply: {
      data: Group[];
      /** Whether there is a next page. */
      has_more: boolean;
      /** What to give as `cursor` for the next page; null on the last one. */
      next_cursor: string | null;
    };
  };
  /** Create a group of existing contacts */
  createGroup: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: CreateGroupInput;
    reply: {
      /** Creates a group. `conflict` when the name is taken. */
      data: Group;
    };
  };
  /** Retrieve a group and its members that still exist */
  getGroup: {
    path: {
      /** Group id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: {
      /** A group of the project; `not_found` when there is none. */
      data: GroupDetail;
    };
  };
  /** Rename a group or replace its members */
  updateGroup: {
    path: {
      /** Group id. */
      id: string;
    };
    query: Record<never, never>;
    body: UpdateGroupInput;
    reply: {
      /** Renames a group or replaces its members. */
      data: Group;
    };
  };
  /** Delete a group; its contacts stay */
  deleteGroup: {
    path: {
      /** Group id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: {
      /** It is gone. */
      deleted: true;
    };
  };
  /** Add contacts to a group */
  addContactsToGroup: {
    path: {
      /** Group id. */
      id: string;
    };
    query: Record<never, never>;
    body: AddContactsInput;
    reply: {
      /** The group, as it is now. */
      data: GroupDetail;
      /** How many of the given contacts exist. */
      matched: number;
    };
  };
  /** List templates, newest first */
  listTemplates: {
    path: Record<never, never>;
    query: {
      /** How many to return at most. */
      limit?: number | undefined;
      /** The `next_cursor` of the page before. */
      cursor?: string | undefined;
    };
    body: undefined;
    reply: {
      data: Template[];
      /** Whether there is a next page. */
      has_more: boolean;
      /** What to give as `cursor` for the next page; null on the last one. */
      next_cursor: string | null;
    };
  };
  /** Create a template as a draft */
  createTemplate: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: CreateTemplateInput;
    reply: {
      /** Creates a draft. `conflict` when the name is taken. */
      data: Template;
    };
  };
  /** Retrieve a template */
  getTemplate: {
    path: {
      /** Template id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: {
      /** A template of the project; `not_found` when there is none. */
      data: Template;
    };
  };
  /** Change a template */
  updateTemplate: {
    path: {
      /** Template id. */
      id: string;
    };
    query: Record<never, never>;
    body: UpdateTemplateInput;
    reply: {
      /** Changes a template. */
      data: Template;
    };
  };
  /** Delete a template */
  deleteTemplate: {
    path: {
      /** Template id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: {
      /** It is gone. */
      deleted: true;
    };
  };
  /** Publish a template */
  publishTemplate: {
    path: {
      /** Template id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: {
      /** Makes a template ready to be sent. */
      data: Template;
    };
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
    };
    body: undefined;
    reply: {
      data: Domain[];
      /** Whether there is a next page. */
      has_more: boolean;
      /** What to give as `cursor` for the next page; null on the last one. */
      next_cursor: string | null;
    };
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
    reply: {
      /** A domain of the project by its name; `not_found` when it is not in the project. */
      data: DomainDetail;
    };
  };
  /** List webhook endpoints, newest first */
  listWebhookEndpoints: {
    path: Record<never, never>;
    query: {
      /** How many to return at most. */
      limit?: number | undefined;
      /** The `next_cursor` of the page before. */
      cursor?: string | undefined;
    };
    body: undefined;
    reply: {
      data: WebhookEndpoint[];
      /** Whether there is a next page. */
      has_more: boolean;
      /** What to give as `cursor` for the next page; null on the last one. */
      next_cursor: string | null;
    };
  };
  /** Register a webhook endpoint; its signing secret is shown this once */
  createWebhookEndpoint: {
    path: Record<never, never>;
    query: Record<never, never>;
    body: CreateWebhookEndpointInput;
    reply: {
      data: WebhookEndpoint & {
        /** What signatures are keyed by; it starts with `whsec_`. */
        secret: string;
      };
    };
  };
  /** Retrieve a webhook endpoint */
  getWebhookEndpoint: {
    path: {
      /** Endpoint id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: {
      /** A webhook endpoint of the project; `not_found` when there is none. */
      data: WebhookEndpoint;
    };
  };
  /** Change where events go or which */
  updateWebhookEndpoint: {
    path: {
      /** Endpoint id. */
      id: string;
    };
    query: Record<never, never>;
    body: UpdateWebhookEndpointInput;
    reply: {
      /** Changes where events go or which. */
      data: WebhookEndpoint;
    };
  };
  /** Delete a webhook endpoint and its deliveries */
  deleteWebhookEndpoint: {
    path: {
      /** Endpoint id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: {
      /** It is gone. */
      deleted: true;
    };
  };
  /** Queue a webhook.test event for an endpoint */
  sendTestWebhook: {
    path: {
      /** Endpoint id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: {
      /** Queues a `webhook.test` event for one endpoint, whatever types it wants. */
      data: SendTestWebhookPayload;
    };
  };
  /** Deliver once more what failed at an endpoint since a time */
  replayFailedWebhookDeliveries: {
    path: {
      /** Endpoint id. */
      id: string;
    };
    query: Record<never, never>;
    body: {
      /** Those that failed at this time or later. */
      since: string;
    };
    reply: {
      data: {
        /** Delivers once more what failed at an endpoint since a time; returns how many. Each is replayed once. */
        replayed: number;
      };
    };
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
      /** Only those in this state. */
      state?: DeliveryState | undefined;
      /** Only those of events of this type. */
      event_type?: string | undefined;
    };
    body: undefined;
    reply: {
      data: WebhookDelivery[];
      /** Whether there is a next page. */
      has_more: boolean;
      /** What to give as `cursor` for the next page; null on the last one. */
      next_cursor: string | null;
    };
  };
  /** List the project's deliveries, newest first */
  listDeliveries: {
    path: Record<never, never>;
    query: {
      /** How many to return at most. */
      limit?: number | undefined;
      /** The `next_cursor` of the page before. */
      cursor?: string | undefined;
      /** Only those in this state. */
      state?: DeliveryState | undefined;
      /** Only those of this event. */
      event_id?: string | undefined;
      /** Only those of events of this type. */
      event_type?: string | undefined;
    };
    body: undefined;
    reply: {
      data: WebhookDelivery[];
      /** Whether there is a next page. */
      has_more: boolean;
      /** What to give as `cursor` for the next page; null on the last one. */
      next_cursor: string | null;
    };
  };
  /** Retrieve a delivery with its event and every attempt */
  getWebhookDelivery: {
    path: {
      /** Delivery id. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: {
      /** A delivery of the project; `not_found` when there is none. */
      data: WebhookDeliveryDetail;
    };
  };
  /** Deliver an event once more, as a new delivery */
  replayWebhookDelivery: {
    path: {
      /** A delivery that is acknowledged or failed. */
      id: string;
    };
    query: Record<never, never>;
    body: undefined;
    reply: {
      /** Delivers an event once more, as a new delivery of the same body. */
      data: WebhookDelivery;
    };
  };
}

/** The method and path of each operation. */
export const OPERATIONS = {
  listProjects: 'GET /v1/projects',
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
  listGroups: 'GET /v1/groups',
  createGroup: 'POST /v1/groups',
  getGroup: 'GET /v1/groups/{id}',
  updateGroup: 'PATCH /v1/groups/{id}',
  deleteGroup: 'DELETE /v1/groups/{id}',
  addContactsToGroup: 'POST /v1/groups/{id}/contacts',
  listTemplates: 'GET /v1/templates',
  createTemplate: 'POST /v1/templates',
  getTemplate: 'GET /v1/templates/{id}',
  updateTemplate: 'PATCH /v1/templates/{id}',
  deleteTemplate: 'DELETE /v1/templates/{id}',
  publishTemplate: 'POST /v1/templates/{id}/publish',
  listDomains: 'GET /v1/projects/{id}/domains',
  getDomain: 'GET /v1/projects/{id}/domains/{domain}',
  listWebhookEndpoints: 'GET /v1/webhooks',
  createWebhookEndpoint: 'POST /v1/webhooks',
  getWebhookEndpoint: 'GET /v1/webhooks/{id}',
  updateWebhookEndpoint: 'PATCH /v1/webhooks/{id}',
  deleteWebhookEndpoint: 'DELETE /v1/webhooks/{id}',
  sendTestWebhook: 'POST /v1/webhooks/{id}/test',
  replayFailedWebhookDeliveries: 'POST /v1/webhooks/{id}/replay',
  listWebhookDeliveries: 'GET /v1/webhooks/{id}/deliveries',
  listDeliveries: 'GET /v1/deliveries',
  getWebhookDelivery: 'GET /v1/deliveries/{id}',
  replayWebhookDelivery: 'POST /v1/deliveries/{id}/replay',
} as const satisfies Record<keyof Operations, string>;
