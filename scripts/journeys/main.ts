// `postroom journeys`: keeps the journeys of a project as files in a git repository. It only calls /v1.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkSettings } from '@postroom/settings';
import { Postroom, PostroomError } from '../../sdk/typescript/src/index.ts';
import { FileProblems } from './files.ts';
import { diff, pull, push } from './sync.ts';

const HELP = `postroom journeys pull|push|diff [FOLDER] [options]

Keeps the journeys of a project as JSON files, one per journey, in FOLDER (default "journeys"). The name in a file identifies the
journey. POSTROOM_API_KEY must be set, and POSTROOM_PROJECT_ID if the key covers several projects.

  pull             write the drafts of all journeys that are not archived to files
  push             save the files as drafts; contacts are not affected
  diff             show how the files differ from the drafts

  --url URL        the gateway; default POSTROOM_URL
  --prune          with pull: delete the files of journeys that the project does not have
  --publish        with push: publish what is not published, if no file has problems; journeys that are paused stay as they are
  --in-progress X  with --publish: contacts in progress finish on their version (finish, the default), move to the matching
                   step (move) or leave (exit)

The exit status is 1 if diff finds a difference, and 2 after an error.
`;

const options = {
  url: { type: 'string' },
  prune: { type: 'boolean', default: false },
  publish: { type: 'boolean', default: false },
  'in-progress': { type: 'string', default: 'finish' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

try {
  process.exitCode = await main();
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 2;
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const [action, path = 'journeys', ...others] = positionals;
  if (action === undefined || !['pull', 'push', 'diff'].includes(action) || others.length > 0)
    throw new FileProblems([`Usage: ${HELP.slice(0, HELP.indexOf('\n'))}`]);
  const { 'in-progress': inProgress } = values;
  if (inProgress !== 'finish' && inProgress !== 'move' && inProgress !== 'exit')
    throw new FileProblems([`--in-progress must be finish, move or exit, not "${inProgress}".`]);
  const postroom = connect(values.url);
  // npm runs scripts in the folder of the repository; INIT_CWD is where it was called.
  const folder = resolve(process.env.INIT_CWD ?? process.cwd(), path);
  const say = (line: string) => console.log(line);
  if (action === 'pull') await pull(postroom, folder, { prune: values.prune, say });
  else if (action === 'push')
    await push(postroom, folder, { inProgress: values.publish ? inProgress : undefined, say });
  else return (await diff(postroom, folder, { say })) ? 1 : 0;
  return 0;
}

function connect(url: string | undefined): Postroom {
  const { POSTROOM_URL, POSTROOM_API_KEY: apiKey, POSTROOM_PROJECT_ID: projectId } = checkSettings('journeys');
  if (apiKey === undefined)
    throw new FileProblems(['POSTROOM_API_KEY is not set. Set it to a full-scope API key (pr_…).']);
  return new Postroom({ baseUrl: url ?? POSTROOM_URL, apiKey, projectId });
}

function messageOf(error: unknown): string {
  if (error instanceof PostroomError) return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
