import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, run, startTemporal, temporalBinary } from '@postroom/embedded';
import {
  addCampaign,
  eventually,
  fromSources,
  type SmtpSink,
  startSmtpSink,
  startSystem,
  type System,
} from '@postroom/testkit';
import { Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';

const NAMESPACE = 'postroom';

let folder: string;
let server: Awaited<ReturnType<typeof startTemporal>>;
let ports: number[];
let sink: SmtpSink;
let system: System;
let worker: ChildProcess | undefined;

/** A Temporal server in memory without our namespace: starting another one on its port replaces its data. */
const startEmptyTemporal = async () =>
  startTemporal(run, {
    binary: await temporalBinary(undefined, console.log),
    port: ports[0] ?? 0,
    uiPort: ports[1] ?? 0,
    logFile: join(folder, 'temporal.log'),
  });

async function registerNamespace(): Promise<void> {
  const connection = await Connection.connect({ address: server.address });
  try {
    await connection.workflowService.registerNamespace({
      namespace: NAMESPACE,
      // 72 hours; a Long of protobuf accepts a number.
      workflowExecutionRetentionPeriod: { seconds: 259_200 as never },
    });
  } finally {
    await connection.close();
  }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'postroom-namespace-'));
  mkdirSync(inFlight());
  ports = await freePorts(2);
  server = await startEmptyTemporal();
  await registerNamespace();
  sink = await startSmtpSink();
  system = await startSystem({
    smtpUrl: sink.url,
    env: { TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: NAMESPACE, IN_FLIGHT_JOURNAL: inFlight() },
    start: (name, env) => {
      const child = fromSources(name, env);
      if (name === 'worker') worker = child;
      return child;
    },
  });
}, 120_000);

afterAll(async () => {
  await system.stop();
  await server.stop();
  await sink.close();
  rmSync(folder, { recursive: true, force: true });
});

const RECIPIENTS = 100;
/** Holds a socket of each worker until that has drained. */
const inFlight = () => join(folder, 'in-flight');

test(
  'a worker whose namespace has gone drains and ends, and continues once it is restarted and the namespace is back',
  { timeout: 240_000 },
  async () => {
    const api = await system.api();
    await system.startWorker();
    const id = await addCampaign(system.pool, api, { name: 'reader', recipients: RECIPIENTS, rate_per_second: 10 });
    expect((await api.post(`/v1/campaigns/${id}/send`)).status).toBe(202);
    await eventually(() => expect(sink.mails.length).toBeGreaterThan(5), 30_000);
    await server.stop();
    server = await startEmptyTemporal();
    expect(worker?.exitCode).toBeNull();
    expect(readdirSync(inFlight())).toContainEqual(expect.stringMatching(/\.sock$/));
    expect(await once(worker as ChildProcess, 'exit')).toEqual([1, null]);
    expect(readdirSync(inFlight())).toEqual([]);
    await registerNamespace();
    // Temporal's services learn of a new namespace after some seconds.
    await eventually(() => system.startWorker(), 60_000);
    const campaign = async () => (await system.pool.query('SELECT * FROM campaigns')).rows[0];
    await eventually(async () => expect((await campaign()).status).toBe('completed'), 60_000);
    expect(await campaign()).toMatchObject({ accepted_count: RECIPIENTS, unknown_count: 0 });
    expect(new Set(sink.mails.map(({ to }) => to)).size).toBe(RECIPIENTS);
    expect(sink.mails).toHaveLength(RECIPIENTS);
  },
);
