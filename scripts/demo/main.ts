import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Postroom, PostroomError } from '../../sdk/typescript/src/index.ts';
import { makeCampaign, makeEndpoint, makeTemplate, readersIn, sendAndWatch, untilRead } from './campaign.ts';
import { countInbox, deliveryWorkflow } from './check.ts';
import { fieldsOf, type Imported, importContacts, problemLine } from './import.ts';
import { bold, count, dim, fail, red, say, seconds, some } from './print.ts';
import { Receiver } from './receiver.ts';
import { type Result, resultTable, verdict } from './result.ts';
import { findSystem, type System } from './system.ts';

const HELP = `npm run demo [-- [contacts.csv] [--data DIR]]

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
  if (error instanceof PostroomError)
    return [error.message, ...error.details.map(({ field, message }) => `${field} ${message}`)].join('; ');
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return error instanceof TypeError ? String(error.stack) : error.message + cause;
}

async function run(path: string, dataDir: string | undefined): Promise<number> {
  console.log(`${bold('Postroom demo')}\n`);
  if (!existsSync(path)) throw new Error(`File not found: ${path}`);
  const system = await findSystem(dataDir, stopping.signal);
  try {
    const result = await campaignOf(path, system);
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

/** The main scenario, step by step. */
async function campaignOf(path: string, system: System): Promise<Result> {
  const started = performance.now();
  const project = system.projects[0];
  if (project === undefined || system.keys.full === undefined)
    throw new Error('dev.json has no project or no full-scope key.');
  const postroom = new Postroom({ apiKey: system.keys.full, baseUrl: system.url });
  say('System', `${system.url}, project ${project.name}`);
  const fromEmail = `hello@${await sendingDomain(postroom, project.id)}`;

  const tag = newTag();
  const name = `Demo ${new Date().toISOString().slice(0, 16).replace('T', ' ')} ${tag}`;
  const file = readFileSync(path);
  const names = { group_name: name, file_name: basename(path) };
  const imported = await importContacts(postroom, new Blob([file]), names, stopping.signal);
  sayImported(imported);
  const group = await postroom.groups.get(imported.groupId);
  say('Group', `“${name}” of ${some(group.memberCount, 'contact')}`);
  const template = await makeTemplate(postroom, name, await fieldsOf(postroom, imported));
  say('Template', `published: “Hello {{name|there}}, …” ${dim(template.id)}`);
  const receiver = await Receiver.start();
  let endpoint: { id: string } | undefined;
  try {
    endpoint = await makeEndpoint(postroom, receiver);
    say('Webhooks', `received by this demo at ${receiver.url} ${dim(endpoint.id)}`);
    const subject = `{{name|Hello}}, your newsletter (${tag})`;
    const letter = { name, subject, fromEmail, templateId: template.id, groupId: group.id };
    const { id } = await makeCampaign(postroom, letter);
    say('Campaign', `to ${some(group.memberCount, 'recipient')} from ${fromEmail} ${dim(id)}`);
    const sentAt = performance.now();
    const sent = await sendAndWatch(postroom, id, receiver, stopping.signal);
    const { lastEventAt } = sent;
    const readers = readersIn(file.toString('latin1'));
    const campaign = await untilRead(postroom, sent.campaign, readers, stopping.signal);
    const inbox = await countInbox(system.inboxUrl, `(${tag})`);
    const delivery =
      system.temporalUiUrl === null ? undefined : await deliveryWorkflow(system.temporalUiUrl, endpoint.id);
    return {
      system,
      campaign,
      receiver,
      inbox,
      delivery,
      notImported: rowsNotImported(imported),
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
  await new Postroom({ apiKey: full, baseUrl: url }).webhooks
    .delete(endpointId, { signal: AbortSignal.timeout(CLEAN_UP_MS) })
    .catch(() => say('', `The webhook endpoint ${endpointId} could not be deleted.`));
}

/** A verified sending domain of the project. */
async function sendingDomain(postroom: Postroom, projectId: string): Promise<string> {
  for await (const { domain, verifiedForSending } of postroom.domains.list(projectId))
    if (verifiedForSending) return domain;
  throw new Error('The project has no verified sending domain.');
}

const SEPARATOR_NAMES: Record<string, string> = { ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'bars' };

const rowsNotImported = ({ counts: { duplicates, suppressed, invalid } }: Imported) =>
  duplicates + suppressed + invalid;

function sayImported(imported: Imported): void {
  const { fileName, encoding, separator, columns, causes, startedAt, finishedAt } = imported;
  const { rows, created, updated, unchanged } = imported.counts;
  const separated = SEPARATOR_NAMES[separator ?? ''] ?? JSON.stringify(separator);
  say(
    'File',
    `${fileName}: ${some(rows, 'row')} of ${some(columns.length, 'column')}, ${encoding}, separated by ${separated}`,
  );
  const fields = columns.filter(({ type }) => type !== null);
  const names = fields.map(({ name, type, isNew }) => `${name} (${type}${isNew ? '' : ', already exists'})`);
  say('Fields', names.join(', ') || 'none: the file has only addresses and names');
  const elapsedMs = Date.parse(finishedAt ?? '') - Date.parse(startedAt ?? '');
  const written = created + updated + unchanged;
  const rate = Math.round(written / (elapsedMs / 1000));
  say(
    'Contacts',
    `${count(written)} imported in ${seconds(elapsedMs)} (${count(rate)}/s): ${count(created)} new, ${count(updated + unchanged)} already existing`,
  );
  for (const cause of causes.toSorted((a, b) => a.firstLine - b.firstLine)) say('', red(problemLine(cause)));
}

/** Distinguishes runs on one system: names must be unique, and the inbox is searched by subject. */
const newTag = () => randomBytes(3).toString('hex');

process.exitCode = await main();
