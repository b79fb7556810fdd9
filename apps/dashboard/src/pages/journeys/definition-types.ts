import type { PropertyCondition } from '../../components/property-operators.ts';

/** The definition of a journey as it is edited: docs/reference/journeys.md. Drafts may be incomplete. */

export interface Duration {
  days?: number | undefined;
  hours?: number | undefined;
  minutes?: number | undefined;
}

export type StepType =
  | 'send'
  | 'wait'
  | 'wait_until'
  | 'wait_for_event'
  | 'condition'
  | 'split'
  | 'update_field'
  | 'join_group'
  | 'leave_group'
  | 'notify'
  | 'webhook'
  | 'exit';

/** A step of any type, with the members of all types. */
export interface Step {
  id: string;
  /** Drafts may have types that the editor does not know. */
  type: StepType | (string & {}) | undefined;
  /** The step that follows; null or omitted ends the run. */
  next?: string | null | undefined;
  yes?: string | null | undefined;
  no?: string | null | undefined;
  onTimeout?: string | null | undefined;
  onFailure?: string | null | undefined;
  branches?: { percent: number; next?: string | null | undefined }[];
  templateId?: string | undefined;
  from?: string | undefined;
  replyTo?: string | undefined;
  transactional?: boolean | undefined;
  for?: Duration | undefined;
  time?: string | undefined;
  weekdays?: number[] | undefined;
  event?: string | undefined;
  where?: PropertyCondition[] | undefined;
  timeout?: Duration | undefined;
  filter?: Record<string, unknown> | undefined;
  segmentId?: string | undefined;
  message?: { stepId: string; outcome: MessageOutcome } | undefined;
  text?: string | undefined;
  memberIds?: string[] | undefined;
  url?: string | undefined;
  field?: string | undefined;
  value?: string | number | boolean | null | undefined;
  groupId?: string | undefined;
}

export type MessageOutcome = 'sent' | 'delivered' | 'opened' | 'clicked' | 'bounced' | 'complained' | 'unsubscribed';

export interface Entry {
  type: 'manual' | 'event' | 'group_joined' | 'form_confirmed' | 'segment_entered' | 'segment_left' | 'date';
  event?: string | undefined;
  where?: PropertyCondition[] | undefined;
  groupId?: string | undefined;
  formId?: string | undefined;
  segmentId?: string | undefined;
  /** A custom field with a date, … */
  field?: string | undefined;
  /** … days after it, or before it if negative, … */
  offsetDays?: number | undefined;
  /** … each year or once, … */
  yearly?: boolean | undefined;
  /** … at this time of day. */
  time?: string | undefined;
  filter?: Record<string, unknown> | undefined;
}

export interface Definition {
  entry: Entry;
  reentry?: 'once' | 'always' | { afterDays: number } | undefined;
  goal?: { event: string; where?: PropertyCondition[] | undefined } | undefined;
  quietHours?: { from: string; to: string } | undefined;
  frequencyCap?: { messages: number; days: number } | undefined;
  timeZone?: string | undefined;
  timeZoneField?: string | undefined;
  /** Contacts enter at the first step. */
  steps: Step[];
}

/** Where a step leads: `key` names the member that holds the id of the next one. */
export interface Exit {
  key: string;
  /** Which way it is; empty for the only one. */
  label: string;
  to: string | null;
  /** The outcomes of runs that go this way; all that no other exit has, if omitted. */
  outcomes?: readonly string[];
}
