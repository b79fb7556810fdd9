import type { Prisma } from '@postroom/platform';
import type { Part, Status } from './records.ts';
import type { PartState, Schedule } from './status.ts';

/** A domain's lifecycle event, as recorded. */
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
  /** A user id, `system` or `operator`. */
  actor: string;
  detail: string;
}

/** Records events in the transaction that causes them. */
export async function recordLifecycle(
  tx: Prisma.TransactionClient,
  domainId: string,
  events: readonly NewLifecycleEvent[],
): Promise<void> {
  if (events.length > 0) await tx.lifecycleEvent.createMany({ data: events.map((event) => ({ domainId, ...event })) });
}

/** Display names of the parts. */
export const PART_NAMES: Record<Part, string> = { dkim: 'DKIM', mailFrom: 'MAIL FROM', dmarc: 'DMARC' };

/** The event for a part's status change. `note` says what is wrong. */
export function partChanged(
  part: Part,
  { status, failingSince }: PartState,
  note: string | null,
  schedule: Schedule,
): NewLifecycleEvent {
  const why = note === null ? '' : ` ${note}`;
  const details: Record<Status, string> = {
    pending: `${PART_NAMES[part]} is being verified.`,
    verified: `${PART_NAMES[part]} is verified.`,
    failing: `${PART_NAMES[part]} is no longer verified.${why} Fix it by ${new Date((failingSince ?? 0) + schedule.graceMs).toISOString()}.`,
    failed: `${PART_NAMES[part]} has failed.${why}`,
  };
  return { type: status, part, actor: 'system', detail: details[status] };
}

/** The event for the domain's status change. */
export function domainChanged(status: Status): NewLifecycleEvent {
  const details: Record<Status, string> = {
    pending: 'The domain is being verified.',
    verified: 'The domain is verified and can send mail.',
    failing: 'The domain has lost a record. It can still send mail for now.',
    failed: 'The domain is not verified and cannot send mail.',
  };
  return { type: status, part: 'domain', actor: 'system', detail: details[status] };
}
