import { blockDomain, unblockDomain } from '@postroom/domains';
import { countOf } from '@postroom/errors';
import { partitionMessages } from '@postroom/ledger';
import { revokeApiKey } from '@postroom/projects';

export const OPERATOR_USAGE = `Usage: postroom operator <command> [--data DIR]

Acts on the whole installation, for operators who can reach its database.

  block DOMAIN REASON  reject mail from a domain in all projects, present and future, whatever its DNS records
  unblock DOMAIN       allow mail from it again
  revoke-key KEY_ID    revoke an API key, even if its creator can no longer sign in

  partition-messages   partition the messages of an installation that an earlier version created`;

const ownersText = (projects: number) =>
  projects === 0 ? 'no project has yet' : countOf(projects, 'project has', 'projects have');

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
      const { isChanged, projects } = await blockDomain(domain, reason);
      if (!isChanged) return `${domain} is blocked already.`;
      return `Blocked ${domain}, which ${ownersText(projects)}.`;
    },
  },
  unblock: {
    takes: 1,
    run: async (domain) => {
      const { isChanged, projects } = await unblockDomain(domain);
      if (!isChanged) return `${domain} is not blocked.`;
      return `Unblocked ${domain}, which ${ownersText(projects)}.`;
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
 * @throws DomainError `validation_error`; `not_found` if the key does not exist; `conflict` if messages
 * can't be partitioned now.
 */
export async function runOperatorCommand(args: readonly string[]): Promise<string | undefined> {
  const [name = '', first = '', second = ''] = args;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  return command?.takes === args.length - 1 ? command.run(first, second) : undefined;
}
