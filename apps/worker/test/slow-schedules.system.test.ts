import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, run, startTemporal, temporalBinary } from '@postroom/embedded';
import { eventually, type SmtpSink, startSmtpSink, startSystem, type System } from '@postroom/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

let folder: string;
let server: Awaited<ReturnType<typeof startTemporal>>;
let sink: SmtpSink;
let system: System;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'postroom-schedules-'));
  const [port = 0, uiPort = 0] = await freePorts(2);
  server = await startTemporal(run, {
    binary: await temporalBinary(undefined, console.log),
    port,
    uiPort,
    logFile: join(folder, 'temporal.log'),
    // Nothing answers a description of a schedule, as in the first half minute of a new server.
    dynamicConfig: ['worker.enableScheduler=false'],
  });
  sink = await startSmtpSink();
  system = await startSystem({ smtpUrl: sink.url, env: { TEMPORAL_ADDRESS: server.address } });
}, 120_000);

afterAll(async () => {
  await system.stop();
  await server.stop();
  await sink.close();
  rmSync(folder, { recursive: true, force: true });
});

test('the first mail does not wait for the schedules of a new Temporal', { timeout: 120_000 }, async () => {
  const api = await system.api();
  const email = { from: 'a@example.com', to: 'b@example.com', subject: 'First', text: 'Hello' };
  expect((await api.post('/v1/emails', email)).status).toBe(202);
  const startedAt = performance.now();
  await Promise.all([system.startWorker(), eventually(() => expect(sink.mails).toHaveLength(1), 60_000)]);
  // Describing a schedule fails after 30 seconds.
  expect(performance.now() - startedAt).toBeLessThan(25_000);
});
