import { type Check, checkDomainWith } from './check.ts';

export type { Check } from './check.ts';

/** Looks a domain up and writes down how it stands. */
export async function checkDomain(domainId: string): Promise<Check> {
  return checkDomainWith(domainId);
}
