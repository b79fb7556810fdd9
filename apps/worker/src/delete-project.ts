// `postroom delete-project`: deletes a project with everything in it. See docs/how-to/privacy.md.
import { parseArgs } from 'node:util';
import { countOf, runCommand } from '@postroom/errors';
import { closeDatabase, isId, pool } from '@postroom/platform';
import { startOnce } from '@postroom/platform/dispatcher';
import { deletionOf, listProjects, requestDeletion } from '@postroom/projects';
import { isDeleted } from '@postroom/projects/sql';
import { connectTemporal, sayOnce } from './temporal.ts';

const USAGE = `Usage: postroom delete-project PROJECT [--name NAME]

Deletes a project with everything in it, for good, as its owners can in the dashboard. Without its name it only says what the project has.
The workers delete it, and go on if the command is interrupted; run again, it waits for them.

  --name NAME           the name of the project, to confirm that this is the one`;

await runCommand('postroom delete-project', async () => {
  const { values: options, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      name: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
      data: { type: 'string' },
    },
  });
  if (options.help === true) console.log(USAGE);
  else if (positionals.length === 1) await run(positionals[0] ?? '', options.name);
  else {
    console.error(USAGE);
    process.exitCode = 1;
  }
});
await closeDatabase();

async function run(projectId: string, name: string | undefined) {
  if (!isId('prj', projectId)) throw new Error(`"${projectId}" is not the id of a project (prj_…).`);
  const { rows } = await pool.query<{ requested: boolean }>(`SELECT ${isDeleted('$1')} AS requested`, [projectId]);
  if (rows[0]?.requested !== true) {
    if (name === undefined) throw new Error(await describe(projectId));
    await requestDeletion(projectId, name, null);
  }
  console.log('Requests are answered 503, and nothing new is sent. Waiting for the workers to delete the rows …');
  const { client, close } = await connectTemporal(new AbortController().signal, sayOnce());
  try {
    const start = deletionOf(projectId);
    await startOnce(client, start);
    await client.workflow.getHandle(start.workflowId).result();
  } finally {
    await close();
  }
  console.log(`${projectId} is deleted.`);
}

/** What the project has, and how to delete it. */
async function describe(projectId: string): Promise<string> {
  const [project] = await listProjects([projectId]);
  if (project === undefined) return 'There is no such project here.';
  const { rows } = await pool.query<{ contacts: string; campaigns: string }>(
    `SELECT (SELECT count(*) FROM contacts WHERE project_id = $1) AS contacts,
       (SELECT count(*) FROM campaigns WHERE project_id = $1) AS campaigns`,
    [projectId],
  );
  const { contacts, campaigns } = rows[0] as { contacts: string; campaigns: string };
  return `"${project.name}" has ${countOf(Number(contacts), 'contact')} and ${countOf(Number(campaigns), 'campaign')}. To delete the project with everything in it for good, repeat its name: --name "${project.name}"`;
}
