// `postroom bootstrap`: creates the first owner, a project and an API key, as far as they don't exist, and prints JSON. A deployment
// may run it every time.
import { parseArgs } from 'node:util';
import { runCommand } from '@postroom/errors';
import { checkSettings } from '@postroom/settings';

const HELP = `postroom bootstrap [--project NAME] [--key NAME]

Creates the first owner (POSTROOM_OWNER_EMAIL, POSTROOM_OWNER_PASSWORD), a project and an API key with full scope for it, as far as
they don't exist, and prints what there is as JSON. The key itself is in the output only of the run that creates it. If there is a
user already, no account is created, and POSTROOM_OWNER_EMAIL names the user who owns the project. Run "postroom migrate" first.

  --project NAME   default "Default"
  --key NAME       default "Bootstrap"
`;

await runCommand('postroom bootstrap', async () => {
  const { values } = parseArgs({
    options: {
      project: { type: 'string', default: 'Default' },
      key: { type: 'string', default: 'Bootstrap' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) process.stdout.write(HELP);
  else await create(values);
});

async function create({ project, key }: { project: string; key: string }): Promise<void> {
  const { POSTROOM_OWNER_EMAIL: email = '', POSTROOM_OWNER_PASSWORD: password = '' } = checkSettings('bootstrap');
  const [{ bootstrap }, { closeDatabase }, { waitForSchema }] = await Promise.all([
    import('../modules/auth/src/index.ts'),
    import('../modules/platform/src/index.ts'),
    import('../packages/migrations/src/schema-version.ts'),
  ]);
  try {
    await waitForSchema();
    console.log(JSON.stringify(await bootstrap({ owner: { email, password }, project, key }), null, 2));
  } finally {
    await closeDatabase();
  }
}
