import type { Definition, Step } from '@postroom/journey-definition';
import { countOf } from '@postroom/platform';
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
        ? 'Entries by hand or by a segment are only recorded for journeys of the project, so only the contacts of the chosen segment enter.'
        : 'Contacts that enter by hand or by a segment are taken from the real runs of the journey.',
    );
  if (entry.type === 'group_joined')
    notes.push('Only contacts that are still in the group, and whose time of joining was recorded, enter.');
  if (entry.filter !== undefined || withFilter.length > 0 || timeZoneField !== undefined || entry.type === 'date')
    notes.push(
      'Custom fields, names and groups have their current values; events and engagement count up to the simulated day.',
    );
  const onMessage = steps.filter((step) => step.type === 'condition' && step.message !== undefined);
  if (onMessage.length > 0)
    notes.push(
      `The outcome of messages is assumed at ${onMessage.length === 1 ? 'step' : 'steps'} ${inQuotes(onMessage)}.`,
    );
  if (steps.some((step) => step.type === 'webhook'))
    notes.push('Webhooks are not called: they are assumed to succeed, with an empty response.');
  if (steps.some((step) => step.type === 'join_group' || step.type === 'leave_group'))
    notes.push('Steps of the journey that change groups have no effect, so later conditions see the current groups.');
  return notes;
}

function ofTotals(stored: unknown): string[] {
  const { truncated } = readTotals(stored);
  return truncated === 0 ? [] : [`Of ${countOf(truncated, 'contact')} only the first 1,000 events were read.`];
}
