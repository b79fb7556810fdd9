import type { Prisma } from '@postroom/platform';

export interface TimelineEvent {
  type: string;
  at: Date;
  detail: string | null;
}

/** A message's events in chronological order, derived from the timestamps on its row. */
export function timelineOf(message: Prisma.MessageModel): TimelineEvent[] {
  const { state, answer } = message;
  const facts: [string, Date | null, string | null][] = [
    ['email.queued', message.createdAt, null],
    ['email.deferred', state === 'planned' ? message.deferredAt : null, answer],
    ['email.sent', message.acceptedAt, answer],
    [`email.${state}`, message.unsentAt, answer],
    ['email.delivered', message.deliveredAt, null],
    ['email.opened', message.openedAt, null],
    ['email.clicked', message.clickedAt, null],
    ['email.opened_by_machine', message.machineOpenedAt, null],
    ['email.clicked_by_machine', message.machineClickedAt, null],
    ['email.bounced', message.bouncedAt, null],
    ['email.complained', message.complainedAt, null],
    ['email.rejected', message.rejectedAt, null],
    ['contact.unsubscribed', message.unsubscribedAt, null],
    ['contact.subscribed', message.resubscribedAt, null],
  ];
  return facts
    .flatMap(([type, at, detail]) => (at === null ? [] : [{ type, at, detail }]))
    .sort((a, b) => orderOf(a) - orderOf(b));

  // A report may arrive before the server's answer is recorded, but is always listed after it.
  function orderOf({ type, at }: TimelineEvent): number {
    const isReport = type !== 'email.queued' && type !== 'email.deferred';
    return isReport ? Math.max(at.getTime(), message.acceptedAt?.getTime() ?? 0) : at.getTime();
  }
}
