// What operators do about an API key of the installation, which may belong to nobody who still signs in:
//   node modules/projects/src/operator.ts revoke-key key_…
import { closeDatabase } from '@postroom/platform';
import { revokeApiKey } from './api-keys.ts';

const USAGE = 'Usage: operator.ts revoke-key <id>';

/** Runs one command and returns what to tell the operator; `undefined` when it is none. */
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
