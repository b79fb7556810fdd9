import type { Prisma } from '@postroom/platform';
import type { Part, Status } from './records.ts';
import type { PartState, Schedule } from './status.ts';

/** Something that happened to a domain, as it is written down. */
export interface NewLifecycleEvent {
  type:
    | Status
    | 'added'
    | 'checkRequested'
    | 'trackingDomainSet'
    | 'providerDetected'
    | 'published'
    | 'blocked'
    | 'unblocked';
  part: Part | 'tracking' | 'domain';
  /** The id of a person, or `system`, or `operator`. */
  actor: string;
  detail: string;
}

/** Writes down what happened, in the transaction that makes it true. */
export async function recordLifecycle(
  tx: Prisma.TransactionClient,
  domainId: string,
  events: readonly NewLifecycleEvent[],
): Promise<void> {
  if (events.length > 0) await tx.lifecycleEvent.createMany({ data: events.map((event) => ({ domainId, ...event })) });
}

/** What people call the parts. */
export const PART_NAMES: Record<Part, string> = { dkim: 'DKIM', mailFrom: 'MAIL FROM', dmarc: 'DMARC' };

/** The event of a part's change of status. `note` says what is wrong. */
export function partChanged(
  part: Part,
  { status, failingSince }: PartState,
  note: string | null,
  schedule: Schedule,
): NewLifecycleEvent {
  const why = note === null ? '' : ` ${note}`;
  const details: Record<Status, string> = {
    pending: `${PART_NAMES[part]} is looked for.`,
    verified: `${PART_NAMES[part]} is verified.`,
    failing: `${PART_NAMES[part]} was verified and is not any more.${why} There is time to mend it until ${new Date((failingSince ?? 0) + schedule.graceMs).toISOString()}.`,
    failed: `${PART_NAMES[part]} has failed.${why}`,
  };
  return { type: status, part, actor: 'system', detail: details[status] };
}

/** The event of the whole domain's change of status. */
export function domainChanged(status: Status): NewLifecycleEvent {
  const details: Record<Status, string> = {
    pending: 'The domain is being verified.',
    verified: 'The domain is verified: mail may be sent from it.',
    failing: 'The domain has lost a record. Mail may still be sent from it.',
    failed: 'The domain is not verified: mail from it is refused.',
  };
  return { type: status, part: 'domain', actor: 'system', detail: details[status] };
}
