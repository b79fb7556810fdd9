import { isTimeZone } from '@postroom/errors';
import { customFieldKey, type Definition } from './definition.ts';

export const EVERY_DAY: readonly number[] = [1, 2, 3, 4, 5, 6, 7];

/** The contact's time zone if its field has a valid one, else that of the journey or campaign, else UTC. */
export function zoneOf(
  { timeZone = 'UTC', timeZoneField }: Pick<Definition, 'timeZone' | 'timeZoneField'>,
  customFields: Readonly<Record<string, unknown>>,
): string {
  const own = timeZoneField === undefined ? undefined : customFields[customFieldKey(timeZoneField)];
  return typeof own === 'string' && isTimeZone(own) ? own : timeZone;
}
