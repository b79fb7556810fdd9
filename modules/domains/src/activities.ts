import { stopAfterRepeatedErrors } from '@postroom/platform';
import { type Check, checkDomainWith } from './check.ts';

export type { Check } from './check.ts';

/** A check that keeps failing is retried after a day, in milliseconds. */
const RETRY_AFTER_FAILURE_MS = 24 * 60 * 60 * 1000;

/** Checks a domain's DNS records and stores their status. */
export async function checkDomain(domainId: string): Promise<Check> {
  return stopAfterRepeatedErrors(
    `domain ${domainId}`,
    () => checkDomainWith(domainId),
    async (reason) => ({
      outcome: 'checked',
      waitMs: RETRY_AFTER_FAILURE_MS,
      details: `The check failed repeatedly; it will be retried tomorrow: ${reason}`,
    }),
  );
}
