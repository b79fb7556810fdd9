import type { SearchedTable } from '@postroom/redaction';
import type { Tx } from './transaction-observer.ts';

/** A person about whom a project stores data: their addresses, and the contact that has or had them, if any. */
export interface DataSubject {
  projectId: string;
  /** Email keys: the requested address or the contact's current one first, then its previous ones. */
  keys: [key: string, ...former: string[]];
  /** The spellings of these addresses that stored text may contain, in lower case. */
  spellings: string[];
  contactId: string | null;
}

/** An erasure under way. */
export interface Erasure extends DataSubject {
  /** Replaces the addresses. Random, so it does not identify the person, and at a domain that never receives mail. */
  alias: string;
  /** The person's own messages, as far as earlier stages found them. */
  messageIds: readonly string[];
}

/** What a module erased: counts for the response, and messages that later stages refer to. */
export interface ErasedRows {
  messageIds?: readonly string[];
  /** Number of the person's own events. */
  events?: number;
  /** Number of planned messages that were canceled. */
  canceled?: number;
}

/**
 * The order in which modules erase and export. Senders lock campaigns before messages, so an erasure does too; hits and
 * deliveries refer to messages and events, so they come last.
 */
export const PRIVACY_STAGES = ['contacts', 'campaigns', 'messages', 'events', 'references'] as const;
export type PrivacyStage = (typeof PRIVACY_STAGES)[number];

/** What a module with personal data exports as `./privacy`. */
export interface PrivacyPart {
  stage: PrivacyStage;
  /** Removes the person from the module's tables, as far as indexes find them. */
  eraseSubject: (tx: Tx, erasure: Erasure) => Promise<ErasedRows>;
  /** The tables that are searched for the addresses afterwards. */
  searched?: readonly SearchedTable[];
  /**
   * Returns the members that the module adds to the export. `data` has those of earlier stages; a member with the name of
   * one of them replaces it.
   */
  exportSubject?: (tx: Tx, subject: DataSubject, data: Readonly<PersonData>) => Promise<Partial<PersonData>>;
}

/** All data about a person, by the modules that store it. */
export interface PersonData {
  messages: readonly { id: string }[];
  events: readonly { id: string }[];
  [member: string]: unknown;
}
