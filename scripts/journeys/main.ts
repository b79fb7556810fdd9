// `postroom journeys`: keeps the journeys of a project as files in a git repository. It only calls /v1.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkSettings } from '@postroom/settings';
import { Postroom, PostroomError } from '../../sdk/typescript/src/index.ts';
import { backtest, readExpectation } from './backtest.ts';
import { FileProblems } from './files.ts';
import { diff, pull, push } from './sync.ts';

const HELP = `postroom journeys pull|push|diff [FOLDER] [options]
postroom journeys backtest FILE --days N [options]

Keeps the journeys of a project as JSON files, one per journey, in FOLDER (default "journeys"). The name in a file identifies the
journey. POSTROOM_API_KEY must be set, and POSTROOM_PROJECT_ID if the key covers several projects.

  pull             write the drafts of all journeys that are not archived to files
  push             save the files as drafts; contacts are not affected
  diff             show how the files differ from the drafts

  backtest         run the journey in FILE against the last days without sending, and print what it would have done

  --url URL        the gateway; default POSTROOM_URL
  --prune          with pull: delete the files of journeys that the project does not have
  --publish        with push: publish what is not published, if no file has problems; journeys that are paused stay as they are
  --in-progress X  with --publish: contacts in progress finish on their version (finish, the default), move to the matching
                   step (move) or leave (exit)
  --days N         with backtest: how many days back, 1 to 90; default 30
  --against X      with backtest: compare with what is published, the draft, a version or another file
  --expect X       with backtest: what has to hold, such as "messages<=1000" or "goal>=95%", in percent of the baseline;
                   may be repeated
  --opened N       with backtest: percent of the messages that are assumed to be opened; default 0
  --clicked N      with backtest: percent of the messages that are assumed to be clicked; default 0
  --segment ID     with backtest: its contacts enter at the beginning

The exit status is 1 if diff finds a difference or an expectation is not met, and 2 after an error.
`;

const options = {
  url: { type: 'string' },
  prune: { type: 'boolean', default: false },
  publish: { type: 'boolean', default: false },
  'in-progress': { type: 'string', default: 'finish' },
  days: { type: 'string', default: '30' },
  against: { type: 'string' },
  expect: { type: 'string', multiple: true },
  opened: { type: 'string' },
  clicked: { type: 'string' },
  segment: { type: 'string' },
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
  if (action === undefined || !['pull', 'push', 'diff', 'backtest'].includes(action) || others.length > 0)
    throw new FileProblems([`Usage: ${HELP.slice(0, HELP.indexOf('\n'))}`]);
  const { 'in-progress': inProgress } = values;
  if (inProgress !== 'finish' && inProgress !== 'move' && inProgress !== 'exit')
    throw new FileProblems([`--in-progress must be finish, move or exit, not "${inProgress}".`]);
  const postroom = connect(values.url);
  // npm runs scripts in the folder of the repository; INIT_CWD is where it was called.
  const base = process.env.INIT_CWD ?? process.cwd();
  const folder = resolve(base, path);
  const say = (line: string) => console.log(line);
  if (action === 'backtest') {
    if (positionals.length !== 2) throw new FileProblems(['Usage: postroom journeys backtest FILE --days N [options]']);
    const expectations = (values.expect ?? []).map(readExpectation);
    const isMet = await backtest(postroom, folder, {
      days: numberOf('--days', values.days),
      against: values.against?.endsWith('.json') === true ? resolve(base, values.against) : values.against,
      opened: values.opened === undefined ? undefined : numberOf('--opened', values.opened),
      clicked: values.clicked === undefined ? undefined : numberOf('--clicked', values.clicked),
      segmentId: values.segment,
      expectations,
      say,
    });
    return isMet ? 0 : 1;
  }
  if (action === 'pull') await pull(postroom, folder, { prune: values.prune, say });
  else if (action === 'push')
    await push(postroom, folder, { inProgress: values.publish ? inProgress : undefined, say });
  else return (await diff(postroom, folder, { say })) ? 1 : 0;
  return 0;
}

function numberOf(option: string, text: string): number {
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number))
    throw new FileProblems([`${option} must be a number, not "${text}".`]);
  return number;
}

function connect(url: string | undefined): Postroom {
  const { POSTROOM_URL, POSTROOM_API_KEY: apiKey, POSTROOM_PROJECT_ID: projectId } = checkSettings('journeys');
  if (apiKey === undefined)
    throw new FileProblems(['POSTROOM_API_KEY is not set. Set it to a full-scope API key (pr_…).']);
  return new Postroom({ baseUrl: url ?? POSTROOM_URL, apiKey, projectId });
}

function messageOf(error: unknown): string {
  if (error instanceof PostroomError)
    return [
      `${error.code}: ${error.message}`,
      ...error.details.map(({ field, message }) => `${field} ${message}`),
    ].join('\n');
  return error instanceof Error ? error.message : String(error);
}
