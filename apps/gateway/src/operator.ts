// `postroom operator`: commands for the whole installation, such as blocking a sending domain in every project.
import { runCommand } from '@postroom/errors';
import { closeDatabase } from '@postroom/platform';
import { parseArgs } from 'node:util';
import { OPERATOR_USAGE, runOperatorCommand } from './operator-commands.ts';

await runCommand('postroom operator', async () => {
  const { values, positionals } = parseArgs({
    // `--data` selects the running system (scripts/commands.mjs).
    options: { data: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
  });
  if (values.help) {
    console.log(OPERATOR_USAGE);
    return;
  }
  const output = await runOperatorCommand(positionals);
  if (output === undefined) console.error(OPERATOR_USAGE);
  else console.log(output);
  process.exitCode = output === undefined ? 1 : 0;
});
await closeDatabase();
