// Blocks or unblocks a sending domain, regardless of its DNS records:
//   npm run operator -- block example.com "Complaints about phishing"
//   npm run operator -- unblock example.com
import { closeDatabase } from '@postroom/platform';
import { blockDomain, unblockDomain } from './domains.ts';

const USAGE = 'Usage: operator.ts block <domain> <reason> | unblock <domain>';

/** Runs a command and returns its output; `undefined` if it is invalid. */
export async function runCommand(args: readonly string[]): Promise<string | undefined> {
  const [command, domain, reason] = args;
  if (domain === undefined) return undefined;
  if (command === 'block' && reason !== undefined) {
    return `Blocked ${domain} in ${await blockDomain(domain, reason)} project(s).`;
  }
  if (command === 'unblock') return `Unblocked ${domain} in ${await unblockDomain(domain)} project(s).`;
  return undefined;
}

if (import.meta.main) {
  const output = await runCommand(process.argv.slice(2));
  console.log(output ?? USAGE);
  process.exitCode = output === undefined ? 1 : 0;
  await closeDatabase();
}
