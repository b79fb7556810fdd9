import { blockDomain, unblockDomain } from '@postroom/domains';
import { partitionMessages } from '@postroom/ledger';
import { revokeApiKey } from '@postroom/projects';

export const OPERATOR_USAGE = `Usage: postroom operator <command>

Acts on the whole installation, for operators who can reach its database.

  block DOMAIN REASON  reject mail from a sending domain in every project, regardless of its DNS records
  unblock DOMAIN       allow mail from it again
  revoke-key KEY_ID    revoke an API key, even if its creator can no longer sign in

  partition-messages   partition the messages of an installation that an earlier version created`;

/**
 * Runs a command and returns its output; `undefined` if the command or its arguments are invalid.
 * @throws DomainError `not_found` if the key does not exist; `conflict` if messages can't be partitioned now.
 */
export async function runOperatorCommand(args: readonly string[]): Promise<string | undefined> {
  const [command, subject, reason] = args;
  if (command === 'partition-messages') {
    await partitionMessages();
    return 'Messages are partitioned.';
  }
  if (subject === undefined) return undefined;
  if (command === 'block' && reason !== undefined)
    return `Blocked ${subject} in ${await blockDomain(subject, reason)} project(s).`;
  if (command === 'unblock') return `Unblocked ${subject} in ${await unblockDomain(subject)} project(s).`;
  if (command !== 'revoke-key') return undefined;
  await revokeApiKey(subject);
  return `Revoked ${subject}.`;
}
