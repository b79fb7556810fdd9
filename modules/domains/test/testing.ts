import { db } from '@postroom/platform';
import { insertDomain, newDomain } from '../src/domains.ts';

export { checkDomainWith } from '../src/check.ts';
export { type Schedule, SCHEDULE } from '../src/status.ts';
export { type CloudflareStandIn, startCloudflare } from './cloudflare.ts';
export { type DnsServer, startDnsServer } from './dns-server.ts';
export { type DnsWorld, freshDomain, startDnsWorld } from './dns-world.ts';

/** Adds a domain as a user does, but without a workflow, so that only the test checks it. */
export async function addUnwatchedDomain(projectId: string, name: string) {
  const data = await newDomain(projectId, { domain: name });
  return db.$transaction((tx) => insertDomain(tx, data, 'usr_test'));
}
