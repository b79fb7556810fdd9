import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '../scripts/demo/client.ts';
import { findSystem, type System } from '../scripts/demo/system.ts';

/** All programs of `npm start` with a project of many contacts, for benchmarks that measure what users wait for. */
export interface WholeSystem {
  system: System;
  api: Client;
  /** The group of all contacts. */
  groupId: string;
  /** Ends when the benchmark is interrupted. */
  stopped: AbortSignal;
}

/** Runs a benchmark in a separate system, whose project has this many contacts. */
export async function inWholeSystem(contacts: number, measure: (whole: WholeSystem) => Promise<void>): Promise<void> {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort(new Error('Stopped.')));
  const folder = await mkdtemp(join(tmpdir(), 'postroom-bench-'));
  const system = await findSystem(folder, stopping.signal);
  try {
    const api = new Client(system.url, system.keys.full ?? '', stopping.signal);
    const groupId = await importContacts(api, contacts);
    await measure({ system, api, groupId, stopped: stopping.signal });
  } finally {
    await system.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function importContacts(api: Client, count: number): Promise<string> {
  const plans = ['free', 'pro', 'enterprise'];
  const rows = Array.from({ length: count }, (_, at) => `person.${at}@example.com,Person ${at},${plans[at % 3]}`);
  const { id } = await api.upload<{ id: string }>('/v1/imports', ['email,name,plan', ...rows].join('\n'), {
    file_name: 'contacts.csv',
    create_fields: 'true',
    group_name: 'Everyone',
  });
  const { groupId } = await ended<{ status: string; groupId: string }>(api, `/v1/imports/${id}`);
  return groupId;
}

const POLL_MS = 100;

/** The record once it is in a final state. @throws if it failed. */
export async function ended<T extends { status: string }>(api: Client, path: string): Promise<T> {
  for (;;) {
    const { data } = await api.get<{ data: T }>(path);
    if (data.status === 'completed') return data;
    if (['failed', 'canceled'].includes(data.status)) throw new Error(`${path}: ${JSON.stringify(data)}`);
    await sleep(POLL_MS);
  }
}
