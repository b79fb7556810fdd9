/**
 * How long it takes to change all contacts of a project in the background, and to export them. Starts a separate system, and
 * meanwhile reads the page of contacts as the dashboard does, whose 99th percentile it prints.
 * Run: npm run bench -- bulk [--contacts 100000]
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ended, inWholeSystem, type WholeSystem } from './whole-system.ts';

const { values: options } = parseArgs({ options: { contacts: { type: 'string', default: '100000' } } });
const CONTACTS = Number(options.contacts);

/** Pause between reads of the list. */
const READ_MS = 200;

/** Runs a job, and reports its rate with the time of reads during it. */
async function timed({ api }: WholeSystem, name: string, job: () => Promise<string>): Promise<void> {
  const reads: number[] = [];
  let isRunning = true;
  const reading = (async () => {
    while (isRunning) {
      const began = performance.now();
      await api.get('/v1/contacts?limit=50');
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

interface Operation {
  id: string;
  status: string;
  processed: number;
  changed: number;
  groupId: string;
}

async function measure(whole: WholeSystem): Promise<void> {
  const { api, groupId, system } = whole;
  const act = (name: string, input: object) =>
    timed(whole, name, async () => {
      const { data } = await api.post<{ data: Operation }>('/v1/bulk-operations', { filter: {}, ...input });
      const { processed, changed } = await ended<Operation>(api, `/v1/bulk-operations/${data.id}`);
      return `${processed} processed, ${changed} changed`;
    });
  const exported = (path: string) => async () => {
    const headers = { Authorization: `Bearer ${system.keys.full}` };
    const bytes = await (await fetch(system.url + path, { headers })).arrayBuffer();
    return `${Math.round(bytes.byteLength / 1000)} kB`;
  };
  await act('add to a new group', { action: 'add_to_group', group_name: 'Everyone again' });
  // A group keeps a member.
  const { data: other } = await api.post<{ data: { email: string } }>('/v1/contacts', { email: 'stays@example.net' });
  await api.post(`/v1/groups/${groupId}/contacts`, { emails: [other.email] });
  await act('remove from a group', {
    action: 'remove_from_group',
    group_id: groupId,
    filter: { where: { field: 'email', op: 'endsWith', value: '@example.com' } },
  });
  await timed(whole, 'export', exported('/v1/contacts/export'));
  await act('suppress', { action: 'suppress' });
  await timed(whole, 'export suppressions', exported('/v1/suppressions/export'));
  await act('delete', { action: 'delete' });
}

await inWholeSystem(CONTACTS, measure);
