// Operator commands for installation API keys, whose creator may no longer be able to sign in: node
// modules/projects/src/operator.ts revoke-key key_…
import { closeDatabase } from '@postroom/platform';
import { revokeApiKey } from './api-keys.ts';

const USAGE = 'Usage: operator.ts revoke-key <id>';

/** Runs one command and returns its output; `undefined` for an unknown command. */
export async function runCommand([command, id]: readonly string[]): Promise<string | undefined> {
  if (command !== 'revoke-key' || id === undefined) return undefined;
  await revokeApiKey(id);
  return `Revoked ${id}.`;
}

if (import.meta.main) {
  const said = await runCommand(process.argv.slice(2));
  console.log(said ?? USAGE);
  process.exitCode = said === undefined ? 1 : 0;
  await closeDatabase();
}
