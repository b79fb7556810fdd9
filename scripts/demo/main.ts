import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  makeCampaign,
  makeEndpoint,
  makeGroup,
  makeTemplate,
  readersAmong,
  sendAndWatch,
  untilRead,
} from './campaign.ts';
import { countInbox, deliveryWorkflow } from './check.ts';
import { Client } from './client.ts';
import { type CsvFile, type Problem, readCsv, UnusableFile } from './csv.ts';
import { type Imported, importContacts, prepareFields } from './import.ts';
import { bold, count, dim, fail, red, say, seconds, some } from './print.ts';
import { Receiver } from './receiver.ts';
import { type Result, resultTable, verdict } from './result.ts';
import { findSystem, type System } from './system.ts';

const HELP = `npm run demo [-- contacts.csv] [-- --data DIR]

Imports a CSV file of contacts, sends them a campaign, receives its webhooks and checks that nothing was lost or duplicated.
Without a file it uses samples/contacts.csv. It uses the running system or starts one.

  --data DIR   the data folder of the system to use or start, as for npm start
`;

const stopping = new AbortController();

async function main(): Promise<number> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect'] as const) process.on(signal, stop);
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { data: { type: 'string' }, help: { type: 'boolean' } },
    });
    if (values.help) {
      process.stdout.write(HELP);
      return 0;
    }
    const path =
      positionals[0] === undefined
        ? join(import.meta.dirname, '../../samples/contacts.csv')
        : fromCaller(positionals[0]);
    return await run(path, values.data === undefined ? undefined : fromCaller(values.data));
  } catch (error) {
    if (stopping.signal.aborted) fail('Stopped.');
    else fail(explain(error));
    return stopping.signal.aborted ? 130 : 1;
  } finally {
    if (process.connected) process.disconnect();
  }
}

/** Resolves a relative path against the directory the user typed it in, which npm passes on. */
const fromCaller = (path: string) => resolve(process.env.INIT_CWD ?? process.cwd(), path);

/** The first stop request stops what the demo started; a later second one exits the demo itself. */
function stop(): void {
  if (stopping.signal.aborted) return;
  stopping.abort(new Error('Stopped.'));
  setTimeout(() => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));
  }, 1_000).unref();
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ((error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS') === true)
    return `${error.message.split('. ')[0]}. See npm run demo -- --help.`;
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return error instanceof TypeError ? String(error.stack) : error.message + cause;
}

async function run(path: string, dataDir: string | undefined): Promise<number> {
  console.log(`${bold('Postroom demo')}\n`);
  const file = await read(path);
  say('File', describe(path, file));
  const system = await findSystem(dataDir, stopping.signal);
  try {
    const result = await campaignOf(file, system);
    console.log(`\n${resultTable(result)}\n`);
    if (system.startedWith !== undefined)
      console.log(dim(`The links work while the system runs: npm start -- ${system.startedWith}\n`));
    const { ok, text } = verdict(result);
    console.log(text);
    return ok ? 0 : 1;
  } finally {
    await system.stop();
  }
}

async function read(path: string): Promise<CsvFile> {
  try {
    const file = readCsv(await readFile(path));
    if (file.rows.length > 0) return file;
    throw new UnusableFile(['No row could be imported.', ...file.problems.map(problemLine)].join('\n'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new UnusableFile(`File not found: ${path}`);
    throw error;
  }
}

const DELIMITER_NAMES: Record<string, string> = { ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'bars' };

function describe(path: string, { rows, problems, encoding, delimiter, header }: CsvFile): string {
  const separated = DELIMITER_NAMES[delimiter] ?? JSON.stringify(delimiter);
  return `${basename(path)}: ${some(rows.length + problems.length, 'row')} of ${some(header.length, 'column')}, ${encoding}, separated by ${separated}`;
}

const problemLine = ({ line, message }: Problem) => `line ${line}: ${message}`;

/** The main scenario, step by step. */
async function campaignOf(file: CsvFile, system: System): Promise<Result> {
  const started = performance.now();
  const project = system.projects[0];
  if (project === undefined || system.keys.full === undefined)
    throw new Error('dev.json has no project or no full-scope key.');
  const api = new Client(system.url, system.keys.full, stopping.signal);
  say('System', `${system.url}, project ${project.name}`);
  const fromEmail = `hello@${await sendingDomain(api, project.id)}`;

  const { fields, text } = await prepareFields(api, file);
  say('Fields', text);
  const imported = await importContacts(api, file, fields);
  const problems = [...file.problems, ...imported.problems].sort((a, b) => a.line - b.line);
  sayImported(imported, problems);
  if (imported.ids.length === 0) throw new Error('No contact was imported, so there are no recipients.');

  const tag = newTag();
  const name = `Demo ${new Date().toISOString().slice(0, 16).replace('T', ' ')} ${tag}`;
  const group = await makeGroup(api, name, imported.ids);
  say('Group', `“${name}” of ${some(group.memberCount, 'contact')}`);
  const template = await makeTemplate(api, name, fields);
  say('Template', `published: “Hello {{name|there}}, …” ${dim(template.id)}`);
  const receiver = await Receiver.start();
  let endpoint: { id: string } | undefined;
  try {
    endpoint = await makeEndpoint(api, receiver);
    say('Webhooks', `received by this demo at ${receiver.url} ${dim(endpoint.id)}`);
    const subject = `{{name|Hello}}, your newsletter (${tag})`;
    const letter = { name, subject, fromEmail, templateId: template.id, groupId: group.id };
    const { id } = await makeCampaign(api, letter);
    say('Campaign', `to ${some(group.memberCount, 'recipient')} from ${fromEmail} ${dim(id)}`);
    const sentAt = performance.now();
    const sent = await sendAndWatch(api, id, receiver, stopping.signal);
    const { lastEventAt } = sent;
    const readers = readersAmong(file.rows.map(({ email }) => email));
    const campaign = await untilRead(api, sent.campaign, readers, stopping.signal);
    const inbox = await countInbox(system.inboxUrl, `(${tag})`);
    const delivery =
      system.temporalUiUrl === null ? undefined : await deliveryWorkflow(system.temporalUiUrl, endpoint.id);
    return {
      system,
      campaign,
      receiver,
      inbox,
      delivery,
      problems,
      sentAt,
      lastEventAt,
      totalMs: performance.now() - started,
    };
  } finally {
    if (endpoint !== undefined) await forget(system, endpoint.id);
    await receiver.stop();
  }
}

const CLEAN_UP_MS = 5_000;

/** Deletes the endpoint, because its receiver is gone; also when the demo is stopped. */
async function forget({ url, keys: { full = '' } }: System, endpointId: string): Promise<void> {
  const api = new Client(url, full, AbortSignal.timeout(CLEAN_UP_MS));
  await api
    .delete(`/v1/webhooks/${endpointId}`)
    .catch(() => say('', `The webhook endpoint ${endpointId} could not be deleted.`));
}

/** A verified sending domain of the project. */
async function sendingDomain(api: Client, projectId: string): Promise<string> {
  for await (const domain of api.list<{ domain: string; verifiedForSending: boolean }>(
    `/v1/projects/${projectId}/domains`,
  )) {
    if (domain.verifiedForSending) return domain.domain;
  }
  throw new Error('The project has no verified sending domain.');
}

function sayImported({ ids, created, updated, elapsedMs }: Imported, problems: readonly Problem[]): void {
  const rate = Math.round(ids.length / (elapsedMs / 1000));
  say(
    'Contacts',
    `${count(ids.length)} imported in ${seconds(elapsedMs)} (${count(rate)}/s): ${count(created)} new, ${count(updated)} already existing`,
  );
  if (problems.length === 0) return;
  say('', red(`${some(problems.length, 'row')} not imported:`));
  for (const problem of problems) say('', `  ${problemLine(problem)}`);
}

/** Distinguishes runs on one system: names must be unique, and the inbox is searched by subject. */
const newTag = () => randomBytes(3).toString('hex');

process.exitCode = await main();
