import { stopAfterRepeatedErrors } from '@postroom/platform';
import { type Check, checkDomainWith } from './check.ts';

export type { Check } from './check.ts';

/** A check that fails again and again is left until the next day, in milliseconds. */
const LEFT_ALONE_MS = 24 * 60 * 60 * 1000;

/** Looks a domain up and writes down how it stands. */
export async function checkDomain(domainId: string): Promise<Check> {
  return stopAfterRepeatedErrors(
    `domain ${domainId}`,
    () => checkDomainWith(domainId),
    async (reason) => ({
      outcome: 'checked',
      waitMs: LEFT_ALONE_MS,
      details: `The check failed again and again, and is left until tomorrow: ${reason}`,
    }),
  );
}
