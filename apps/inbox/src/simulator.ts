import type { Report } from '@postroom/bounces';

/** Mail to this domain, which never exists, is answered and reported on as its local part says. */
const DOMAIN = 'simulator.invalid';

/** How the addresses of the simulator act; every other address takes its mail. */
export type Act =
  | 'bounced'
  | 'complained'
  | 'rejected'
  | 'deferred'
  | 'refused'
  | 'slow'
  | 'opened'
  | 'clicked'
  | 'delivered';
const ACTS: ReadonlySet<string> = new Set<Act>([
  'bounced',
  'complained',
  'rejected',
  'deferred',
  'refused',
  'slow',
  'opened',
  'clicked',
]);

/** How long `slow@` takes to answer, in milliseconds. */
export const SLOW_MS = 4_000;
/** How many tries `deferred@` answers with 451 before it takes the mail. */
export const DEFERRED_TRIES = 2;

/** What the address does. `bounced+anything@…` acts as `bounced@…`, so that many contacts can. */
export function actOf(address: string): Act {
  const [local = '', domain] = address.toLowerCase().split('@');
  const name = local.split('+', 1)[0]!;
  return domain === DOMAIN && ACTS.has(name) ? (name as Act) : 'delivered';
}

const REPORTS: Record<Act, Pick<Report, 'kind' | 'detail'>[]> = {
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

/** What a provider would report of a mail that it takes for these recipients; nothing if the mail is not ours. */
export function reportsOf(messageId: string | undefined, recipients: readonly string[]) {
  const id = OUR_MESSAGE_ID.exec(messageId ?? '')?.[1];
  if (id === undefined) return [];
  return recipients.flatMap((recipient) =>
    REPORTS[actOf(recipient)].map((report) => ({ messageId: id, recipient, ...report })),
  );
}

/** Messages whose tries are remembered. */
const REMEMBERED = 10_000;

/** Counts the tries of each message to `deferred@`. A restart of the inbox counts anew. */
export class Deferrals {
  readonly #tries = new Map<string, number>();

  /** Whether this try of the message is to be answered with 451. */
  defers(messageId: string): boolean {
    const tries = (this.#tries.get(messageId) ?? 0) + 1;
    this.#tries.delete(messageId);
    this.#tries.set(messageId, tries);
    if (this.#tries.size > REMEMBERED) this.#tries.delete(this.#tries.keys().next().value!);
    return tries <= DEFERRED_TRIES;
  }
}
