// `postroom doctor`: checks what an installation depends on and says what to fix. Read-only: it changes nothing, sends no mail.
import { parseArgs } from 'node:util';
import { runChecks } from './checks.ts';

const HELP = `postroom doctor [--data DIR] [--json]

Checks settings, database, Temporal, DNS, mail transport and ports, and says what to fix. It reads the environment as the
gateway and worker do; without DATABASE_URL it checks the Postroom that runs on a data folder (.postroom unless --data).
Exit status: 0 if nothing failed, 1 otherwise.
`;

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h' },
  },
});
if (values.help === true) {
  process.stdout.write(HELP);
  process.exit(0);
}

const MARKS = { ok: '✓', warning: '!', failed: '✗' } as const;

const results = await runChecks(process.env, (result) => {
  if (values.json) return;
  console.log(`${MARKS[result.status]} ${result.check}: ${result.detail}`);
  if (result.fix !== undefined) console.log(`    ${result.fix}`);
});
const failed = results.filter(({ status }) => status === 'failed').length;
const warnings = results.filter(({ status }) => status === 'warning').length;
if (values.json) console.log(JSON.stringify(results, null, 2));
else console.log(`\nChecks: ${results.length}, failed: ${failed}, warnings: ${warnings}`);
process.exit(failed > 0 ? 1 : 0);
