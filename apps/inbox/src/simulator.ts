import type { Report } from '@postroom/bounces';

/** Mail to this reserved domain gets the response and reports named by its local part. */
const DOMAIN = 'simulator.invalid';

/** The simulator's behaviors; every other address accepts its mail. */
export type Behavior =
  | 'bounced'
  | 'complained'
  | 'rejected'
  | 'deferred'
  | 'refused'
  | 'slow'
  | 'opened'
  | 'clicked'
  | 'delivered';
const BEHAVIORS: ReadonlySet<string> = new Set<Behavior>([
  'bounced',
  'complained',
  'rejected',
  'deferred',
  'refused',
  'slow',
  'opened',
  'clicked',
]);

/** Response delay of `slow@`, in milliseconds. */
export const SLOW_MS = 4_000;
/** Attempts that `deferred@` rejects with 451 before it accepts the mail. */
export const DEFERRED_TRIES = 2;

/** The behavior of an address. `bounced+anything@…` acts as `bounced@…`, so that many contacts can use it. */
export function behaviorOf(address: string): Behavior {
  const [local = '', domain] = address.toLowerCase().split('@');
  const name = local.split('+', 1)[0]!;
  return domain === DOMAIN && BEHAVIORS.has(name) ? (name as Behavior) : 'delivered';
}

const REPORTS: Record<Behavior, Pick<Report, 'kind' | 'detail'>[]> = {
  delivered: [{ kind: 'delivered' }],
  slow: [{ kind: 'delivered' }],
  opened: [{ kind: 'delivered' }],
  clicked: [{ kind: 'delivered' }],
  deferred: [{ kind: 'delivered' }],
  refused: [],
  bounced: [{ kind: 'bounced', detail: 'smtp; 550 5.1.1 The mailbox does not exist (simulated)' }],
  complained: [{ kind: 'delivered' }, { kind: 'complained', detail: 'The recipient marked it as spam (simulated)' }],
  rejected: [{ kind: 'rejected', detail: 'The message contains a virus (simulated)' }],
};

const OUR_MESSAGE_ID = /^(eml_[0-9a-z]{26})@/;

/** The reports a provider would send after accepting a mail for these recipients; empty if the mail is not ours. */
export function reportsOf(messageId: string | undefined, recipients: readonly string[]) {
  const id = OUR_MESSAGE_ID.exec(messageId ?? '')?.[1];
  if (id === undefined) return [];
  return recipients.flatMap((recipient) =>
    REPORTS[behaviorOf(recipient)].map((report) => ({ messageId: id, recipient, ...report })),
  );
}

/** Maximum messages whose attempts are remembered. */
const REMEMBERED = 10_000;

/** Counts the attempts of each message to `deferred@`. Counts are lost on restart. */
export class Deferrals {
  readonly #tries = new Map<string, number>();

  /** Whether to reject this attempt with 451. */
  defers(messageId: string): boolean {
    const tries = (this.#tries.get(messageId) ?? 0) + 1;
    this.#tries.delete(messageId);
    this.#tries.set(messageId, tries);
    if (this.#tries.size > REMEMBERED) this.#tries.delete(this.#tries.keys().next().value!);
    return tries <= DEFERRED_TRIES;
  }
}
