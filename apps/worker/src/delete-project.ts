// `postroom delete-project`: deletes a project with everything in it. See docs/how-to/privacy.md.
import { parseArgs } from 'node:util';
import { runCommand } from '@postroom/errors';
import { closeDatabase, isId, logger } from '@postroom/platform';
import { connectHere } from './move/connect.ts';
import { deleteProject, DeletionRefused } from './move/delete.ts';
import { drainMsOf } from './move/drain.ts';
import { endWorkflows } from './move/end-workflows.ts';

const USAGE = `Usage: postroom delete-project PROJECT [--name NAME] [--drain-seconds 120]

Deletes a project with everything in it, for good. Without its name it only says what the project has. It can be interrupted at any
moment, and continues when it is run again.

  --name NAME           the name of the project, to confirm that this is the one
  --drain-seconds N     how long to wait for mail and webhooks in flight`;

await runCommand('postroom delete-project', async () => {
  const { values: options, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      name: { type: 'string' },
      'drain-seconds': { type: 'string', default: '120' },
      help: { type: 'boolean', short: 'h' },
      data: { type: 'string' },
    },
  });
  if (options.help === true) console.log(USAGE);
  else if (positionals.length === 1) await run(positionals[0] ?? '', options);
  else {
    console.error(USAGE);
    process.exitCode = 1;
  }
});
await closeDatabase();

async function run(projectId: string, { name, 'drain-seconds': drain }: { name?: string; 'drain-seconds': string }) {
  if (!isId('prj', projectId)) throw new DeletionRefused(`"${projectId}" is not the id of a project (prj_…).`);
  const drainMs = drainMsOf(drain);
  const client = await connectHere();
  try {
    await deleteProject({
      client,
      projectId,
      name,
      drainMs,
      report: (step) => console.log(step),
      endWorkflows: () => endWorkflows(projectId, 'The project was deleted.'),
    });
    console.log(`${projectId} is deleted.`);
  } catch (error) {
    if (!(error instanceof DeletionRefused)) logger.error({ err: error }, 'the deletion was interrupted');
    throw error;
  } finally {
    await client.end().catch(() => {});
  }
}
