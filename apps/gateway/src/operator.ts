// `postroom operator`: commands for the whole installation, such as blocking a sending domain in every project.
import { closeDatabase } from '@postroom/platform';
import { parseArgs } from 'node:util';
import { OPERATOR_USAGE, runOperatorCommand } from './operator-commands.ts';

const { values, positionals } = parseArgs({
  // `--data` selects the running system (scripts/commands.mjs).
  options: { data: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  allowPositionals: true,
});
if (values.help) {
  console.log(OPERATOR_USAGE);
} else {
  try {
    const output = await runOperatorCommand(positionals);
    if (output === undefined) console.error(OPERATOR_USAGE);
    else console.log(output);
    process.exitCode = output === undefined ? 1 : 0;
  } catch (error) {
    console.error(`postroom operator failed: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  } finally {
    await closeDatabase();
  }
}
