import { databaseTime, idsCreatedFrom, idsCreatedUntil, invalid, messagesOfEvents } from '@postroom/platform';
import { messagesFirstHit } from '@postroom/tracking/sql';

/** Outcomes of a message, as `statistics` counts them. The descriptions are shown in the API reference. */
export const EMAIL_OUTCOMES = {
  sent: 'Accepted by a mail server.',
  failed: 'Rejected by a mail server.',
  delivered: "Reported as accepted by the recipient's server.",
  opened: 'First opened by a human.',
  opened_by_machines: 'First opened by a bot, such as a privacy proxy.',
  clicked: 'A human first clicked a link.',
  clicked_by_machines: 'A bot first followed a link, such as a link scanner.',
  bounced: 'Bounced.',
  complained: 'Marked as spam.',
} as const;

type EmailOutcome = keyof typeof EMAIL_OUTCOMES;

/** Outcomes that are first hits instead of events. */
const HITS: Partial<Record<EmailOutcome, ['open' | 'click', 'person' | 'machine']>> = {
  opened: ['open', 'person'],
  opened_by_machines: ['open', 'machine'],
  clicked: ['click', 'person'],
  clicked_by_machines: ['click', 'machine'],
};

const DAY_MS = 24 * 60 * 60 * 1000;
/** The longest period, in days: what `statistics` shows. */
const MAX_DAYS = 400;

/** An outcome and when it came about. */
export interface OutcomeFilter {
  outcome?: EmailOutcome | null | undefined;
  since?: Date | null | undefined;
  /** Up to now if omitted. */
  until?: Date | null | undefined;
}

/**
 * The messages of project `$1` with an outcome in a period, as SQL; `undefined` if no outcome is given. It reads the events or
 * first hits of the period.
 * @throws DomainError `validation_error` for a period without an outcome, an outcome without a start, an end before the start,
 * or more than 400 days.
 */
export function messagesWithOutcome(
  { outcome, since, until }: OutcomeFilter,
  parameter: (value: unknown) => string,
): string | undefined {
  if (outcome == null) {
    if (since != null) throw invalid({ field: 'since', message: 'requires outcome' });
    if (until != null) throw invalid({ field: 'until', message: 'requires outcome' });
    return undefined;
  }
  if (since == null) throw invalid({ field: 'since', message: 'is required with outcome' });
  const end = until ?? databaseTime();
  if (end <= since)
    throw invalid(
      until == null
        ? { field: 'since', message: 'must be in the past' }
        : { field: 'until', message: 'must be after since' },
    );
  if (end.getTime() - since.getTime() > MAX_DAYS * DAY_MS)
    throw invalid({ field: 'since', message: `must be at most ${MAX_DAYS} days before until` });
  const period = { projectId: '$1', since: parameter(since), until: parameter(end) };
  const hit = HITS[outcome];
  if (hit !== undefined) return messagesFirstHit(...hit, period);
  return messagesOfEvents({
    ...period,
    type: parameter(`email.${outcome}`),
    from: parameter(idsCreatedFrom('evt', since)),
    to: parameter(idsCreatedUntil('evt', end)),
  });
}
