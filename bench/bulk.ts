/**
 * How long it takes to change all contacts of a project in the background, and to export them. Starts a separate system, and
 * meanwhile reads the page of contacts as the dashboard does, whose 99th percentile it prints.
 * Run: npm run bench -- bulk [--contacts 100000]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { importContacts } from '../scripts/demo/import.ts';
import { findSystem } from '../scripts/demo/system.ts';
import { type BulkOperation, type InputOf, Postroom } from '../sdk/typescript/src/index.ts';

const { values: options } = parseArgs({ options: { contacts: { type: 'string', default: '100000' } } });
const CONTACTS = Number(options.contacts);

/** Pause between reads of the list. */
const READ_MS = 200;
const POLL_MS = 100;

/** Runs a job, and reports its rate with the time of reads during it. */
async function timed(postroom: Postroom, name: string, job: () => Promise<string>): Promise<void> {
  const reads: number[] = [];
  let isRunning = true;
  const reading = (async () => {
    while (isRunning) {
      const began = performance.now();
      await postroom.contacts.list({ limit: 50 });
      reads.push(performance.now() - began);
      await sleep(READ_MS);
    }
  })();
  const began = performance.now();
  const result = await job();
  const seconds = (performance.now() - began) / 1000;
  isRunning = false;
  await reading;
  const p99 = reads.toSorted((a, b) => a - b)[Math.ceil(reads.length * 0.99) - 1] ?? 0;
  console.log(
    `${name.padEnd(22)} ${seconds.toFixed(1).padStart(6)} s, ${Math.round(CONTACTS / seconds)} contacts/s; ` +
      `a page meanwhile ${Math.round(p99)} ms (p99 of ${reads.length}); ${result}`,
  );
}

/** The operation once it has completed. @throws if it ends in another way. */
async function ended(postroom: Postroom, id: string): Promise<BulkOperation> {
  for (;;) {
    const operation = await postroom.bulkOperations.get(id);
    if (operation.status === 'completed') return operation;
    if (operation.status !== 'running') throw new Error(JSON.stringify(operation));
    await sleep(POLL_MS);
  }
}

type Action = InputOf<'startBulkOperation'>['body'];

async function measure(postroom: Postroom, groupId: string): Promise<void> {
  const act = (name: string, action: Action) =>
    timed(postroom, name, async () => {
      const { id } = await postroom.bulkOperations.start(action);
      const { processed, changed } = await ended(postroom, id);
      return `${processed} processed, ${changed} changed`;
    });
  const exported = (start: () => Promise<ReadableStream<Uint8Array>>) => async () => {
    const bytes = await new Response(await start()).arrayBuffer();
    return `${Math.round(bytes.byteLength / 1000)} kB`;
  };
  await act('add to a new group', { action: 'add_to_group', filter: {}, group_name: 'Everyone again' });
  // A group keeps a member.
  const { email } = await postroom.contacts.create({ email: 'stays@example.net' });
  await postroom.groups.addContacts(groupId, { emails: [email] });
  await act('remove from a group', {
    action: 'remove_from_group',
    group_id: groupId,
    filter: { where: { field: 'email', op: 'endsWith', value: '@example.com' } },
  });
  await timed(
    postroom,
    'export',
    exported(() => postroom.contacts.export()),
  );
  await act('suppress', { action: 'suppress', filter: {} });
  await timed(
    postroom,
    'export suppressions',
    exported(() => postroom.suppressions.export()),
  );
  await act('delete', { action: 'delete', filter: {} });
}

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort(new Error('Stopped.')));
const folder = await mkdtemp(join(tmpdir(), 'postroom-bench-'));
const system = await findSystem(folder, stopping.signal);
try {
  const postroom = new Postroom({ apiKey: system.keys.full ?? '', baseUrl: system.url });
  const plans = ['free', 'pro', 'enterprise'];
  const rows = Array.from({ length: CONTACTS }, (_, at) => `person.${at}@example.com,Person ${at},${plans[at % 3]}`);
  const file = ['email,name,plan', ...rows].join('\n');
  const { groupId } = await importContacts(postroom, file, { group_name: 'Everyone' }, stopping.signal);
  await measure(postroom, groupId);
} finally {
  await system.stop();
  await rm(folder, { recursive: true, force: true });
}
