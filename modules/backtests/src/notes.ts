import type { Definition, Step } from '@postroom/journey-definition';
import type { Backtest } from './backtests.ts';
import { isEnteredByHand } from './facts.ts';
import { readTotals } from './totals.ts';

const inQuotes = (steps: readonly Step[]) => steps.map(({ id }) => `"${id}"`).join(', ');

/** What the result of a backtest depends on that is not known about the past, as sentences. */
export function notesOf({ candidate, baseline, totals, journeyId }: Backtest): string[] {
  const definitions = [candidate, baseline].filter((each) => each !== null) as unknown as Definition[];
  return [...new Set([...definitions.flatMap((each) => ofDefinition(each, journeyId)), ...ofTotals(totals)])];
}

function ofDefinition({ entry, steps, timeZoneField }: Definition, journeyId: string | null): string[] {
  const notes: string[] = [];
  const withFilter = steps.filter(
    (step) => step.type === 'condition' && (step.filter !== undefined || step.segmentId !== undefined),
  );
  if (isEnteredByHand(entry.type))
    notes.push(
      journeyId === null
        ? 'Who entered by hand or by a segment is only recorded for journeys of the project, so nobody enters but the contacts of the chosen segment.'
        : 'Who enters by hand or by a segment is taken from the runs that the journey had.',
    );
  if (entry.type === 'group_joined')
    notes.push(
      'Contacts enter that are in the group now and whose joining is recorded. Those that left it since do not.',
    );
  if (entry.filter !== undefined || withFilter.length > 0 || timeZoneField !== undefined || entry.type === 'date')
    notes.push('Custom fields, names and groups have the values of today; events and engagement count up to the day.');
  const onMessage = steps.filter((step) => step.type === 'condition' && step.message !== undefined);
  if (onMessage.length > 0)
    notes.push(
      `The outcome of messages is assumed at ${onMessage.length === 1 ? 'step' : 'steps'} ${inQuotes(onMessage)}.`,
    );
  if (steps.some((step) => step.type === 'webhook'))
    notes.push('Webhooks are not called: they are assumed to succeed, with an empty response.');
  if (steps.some((step) => step.type === 'join_group' || step.type === 'leave_group'))
    notes.push('Groups that the journey changes are not changed, so later conditions on them see the groups of today.');
  return notes;
}

function ofTotals(stored: unknown): string[] {
  const { truncated } = readTotals(stored);
  return truncated === 0 ? [] : [`Of ${truncated} contacts only the first 1,000 events were read.`];
}
