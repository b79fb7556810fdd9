import { blockDomain, unblockDomain } from '@postroom/domains';
import { partitionMessages } from '@postroom/ledger';
import { revokeApiKey } from '@postroom/projects';

export const OPERATOR_USAGE = `Usage: postroom operator <command> [--data DIR]

Acts on the whole installation, for operators who can reach its database.

  block DOMAIN REASON  reject mail from a sending domain in every project, regardless of its DNS records
  unblock DOMAIN       allow mail from it again
  revoke-key KEY_ID    revoke an API key, even if its creator can no longer sign in

  partition-messages   partition the messages of an installation that an earlier version created`;

interface Command {
  /** The number of its arguments. */
  takes: number;
  /** Returns the output. */
  run: (first: string, second: string) => Promise<string>;
}

const COMMANDS: Record<string, Command> = {
  block: {
    takes: 2,
    run: async (domain, reason) => {
      const count = await blockDomain(domain, reason);
      return count === 0 ? `${domain} is blocked already.` : `Blocked ${domain} in ${count} project(s).`;
    },
  },
  unblock: {
    takes: 1,
    run: async (domain) => {
      const count = await unblockDomain(domain);
      return count === 0 ? `${domain} is not blocked.` : `Unblocked ${domain} in ${count} project(s).`;
    },
  },
  'revoke-key': {
    takes: 1,
    run: async (id) => {
      await revokeApiKey(id);
      return `Revoked ${id}.`;
    },
  },
  'partition-messages': {
    takes: 0,
    run: async () => {
      await partitionMessages();
      return 'Messages are partitioned.';
    },
  },
};

/**
 * Runs a command and returns its output; `undefined` if there is no such command, or it takes another number of arguments.
 * @throws DomainError `validation_error`; `not_found` if no project has the domain, or the key does not exist; `conflict` if messages
 * can't be partitioned now.
 */
export async function runOperatorCommand(args: readonly string[]): Promise<string | undefined> {
  const [name = '', first = '', second = ''] = args;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  return command?.takes === args.length - 1 ? command.run(first, second) : undefined;
}
