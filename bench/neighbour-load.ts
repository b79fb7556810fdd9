/**
 * The load that the noisy neighbour of bench/neighbour.ts puts on a gateway, in a separate process that exits with its parent.
 * It runs until it receives `stop`, and replies with the number of requests made and rejected.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';

export interface Neighbour {
  url: string;
  /** Keys of one project; each makes requests as fast as its limits allow. */
  keys: string[];
  templateId: string;
  campaignId: string;
  /** The CSV file of each import. */
  imports: string[];
}

export interface NeighbourFigures {
  requests: number;
  /** Responses with 429. */
  limited: number;
  /** The number of other responses than 2xx and 429, and the first of them. */
  failed: number;
  failure: string;
  /** Concurrent streams, and slow downloads. */
  streams: number;
  downloads: number;
}

const STREAMS = 100;
const DOWNLOADS = 8;
/** Concurrent requests by kind. */
const CONTACTS_AT_ONCE = 12;
const EMAILS_AT_ONCE = 4;
const PREVIEWS_AT_ONCE = 4;

const dispatcher = new Agent({ connections: 300 });
let isRunning = false;
let ended: Promise<unknown> = Promise.resolve();
let figures = newFigures();

function newFigures(): NeighbourFigures {
  return { requests: 0, limited: 0, failed: 0, failure: '', streams: 0, downloads: 0 };
}

function begin(of: Neighbour): void {
  isRunning = true;
  figures = newFigures();
  const stopped = new AbortController();
  const [main = ''] = of.keys;
  let number = 0;

  async function ask(method: 'GET' | 'POST', path: string, key: string, body?: string, type = 'application/json') {
    const response = await request(`${of.url}${path}`, {
      dispatcher,
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': type },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.body.text();
    figures.requests++;
    const hasGraphqlErrors = response.statusCode === 200 && path === '/graphql' && text.includes('"errors"');
    if (response.statusCode === 429) {
      figures.limited++;
      await sleep(100);
    } else if (response.statusCode >= 300 || hasGraphqlErrors) {
      if (figures.failed++ === 0) figures.failure = `${method} ${path}: ${response.statusCode} ${text.slice(0, 200)}`;
    }
  }
  const repeat = (atOnce: number, work: (key: string) => Promise<unknown>) =>
    Array.from({ length: atOnce }, async (_, at) => {
      while (isRunning) await work(of.keys[at % of.keys.length] ?? main);
    });

  const contact = (key: string) =>
    ask('POST', '/v1/contacts', key, JSON.stringify({ email: `flood${number++}.${Date.now()}@readers.test` }));
  const email = (key: string) => {
    const variables = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`v${at}`, `value ${number++}`]));
    const to = [`flood${number++}@readers.test`];
    return ask(
      'POST',
      '/v1/emails',
      key,
      JSON.stringify({ from: 'hello@noisy.example', to, template_id: of.templateId, variables }),
    );
  };
  const filter = { or: ['a', 'e', 'i', 'o'].map((value) => ({ field: 'email', op: 'contains', value: `${value}1` })) };
  const aliases = Array.from({ length: 8 }, (_, at) => `p${at}: segmentPreview(filter: $filter) { contactCount }`);
  const query = `query ($filter: JSON!) { ${aliases.join(' ')} }`;
  const preview = (key: string) => ask('POST', '/graphql', key, JSON.stringify({ query, variables: { filter } }));

  /** Opens the response and never reads it. */
  async function download(): Promise<void> {
    const response = await request(`${of.url}/v1/contacts/export`, {
      dispatcher,
      headers: { authorization: `Bearer ${main}` },
      signal: stopped.signal,
    });
    if (response.statusCode === 200) figures.downloads++;
    else await response.body.dump();
  }
  async function stream(): Promise<void> {
    const events = 'subscription { eventRecorded { cursor } }';
    const response = await request(`${of.url}/graphql/stream`, {
      dispatcher,
      method: 'POST',
      headers: { authorization: `Bearer ${main}`, accept: 'text/event-stream', 'content-type': 'application/json' },
      body: JSON.stringify({ query: events }),
      signal: stopped.signal,
    });
    if (response.statusCode === 200) figures.streams++;
    for await (const _ of response.body);
  }
  const untilStopped = (work: Promise<void>) => work.catch(() => {});

  const once = [
    ask('POST', `/v1/campaigns/${of.campaignId}/send`, main, '{}'),
    ...of.imports.map((csv) => ask('POST', '/v1/imports', main, csv, 'text/csv')),
  ];
  const lasting = [
    ...Array.from({ length: DOWNLOADS }, () => untilStopped(download())),
    ...Array.from({ length: STREAMS }, () => untilStopped(stream())),
  ];
  const repeated = [
    ...repeat(CONTACTS_AT_ONCE, contact),
    ...repeat(EMAILS_AT_ONCE, email),
    ...repeat(PREVIEWS_AT_ONCE, preview),
  ];
  ended = Promise.all([...once, ...repeated]).finally(async () => {
    stopped.abort();
    await Promise.all(lasting);
  });
}

process.on('message', async (told: Neighbour | 'stop') => {
  if (told !== 'stop') return begin(told);
  isRunning = false;
  await ended;
  process.send?.(figures);
});
process.on('disconnect', () => process.exit(0));
process.send?.({});
