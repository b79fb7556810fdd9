// `postroom doctor`: checks what an installation depends on and says what to fix. Read-only: it changes nothing, sends no mail.
import { parseArgs } from 'node:util';
import { runCommand } from '@postroom/errors';
import { isProgram, type Program, PROGRAM_NAMES } from '@postroom/settings';
import { type CheckResult, runChecks } from './checks.ts';

const HELP = `postroom doctor [PROGRAM …] [--data DIR] [--json]

Checks settings, database, Temporal, DNS, mail transport and ports, and says what to fix. It reads the environment as the
programs do, by default the gateway and the worker, and checks what they need; PROGRAM names others (${PROGRAM_NAMES.join(', ')}).
Without DATABASE_URL it checks the Postroom that runs on a data folder (.postroom unless --data).
Exit status: 0 if nothing failed, 1 otherwise.
`;

const MARKS = { ok: '✓', warning: '!', failed: '✗' } as const;

await runCommand('postroom doctor', async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      data: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const unknown = positionals.find((name) => !isProgram(name));
  if (values.help === true) process.stdout.write(HELP);
  else if (unknown === undefined) process.exitCode = await check(positionals.filter(isProgram), values);
  else throw new Error(`unknown program "${unknown}"; it must be one of ${PROGRAM_NAMES.join(', ')}`);
});
process.exit();

/** Prints what it finds. @returns the exit status. */
async function check(programs: readonly Program[], { json }: { json: boolean }): Promise<number> {
  const show = (result: CheckResult) => {
    if (json) return;
    console.log(`${MARKS[result.status]} ${result.check}: ${result.detail}`);
    if (result.fix !== undefined) console.log(`    ${result.fix}`);
  };
  const results = await runChecks(process.env, show, programs.length === 0 ? undefined : programs);
  const failed = results.filter(({ status }) => status === 'failed').length;
  const warnings = results.filter(({ status }) => status === 'warning').length;
  if (json) console.log(JSON.stringify(results, null, 2));
  else console.log(`\nChecks: ${results.length}, failed: ${failed}, warnings: ${warnings}`);
  return failed > 0 ? 1 : 0;
}
