import { randomUUID } from 'node:crypto';
import { addDomain, removeDomain, requestCheck } from '@postroom/domains';
import {
  type DnsWorld,
  addUnwatchedDomain,
  checkDomainWith,
  freshDomain,
  SCHEDULE,
  startDnsWorld,
} from '@postroom/domains/testing';
import { config, db } from '@postroom/platform';
import { createProject } from '@postroom/projects';
import { eventually, startTestWorker, temporalClient } from '@postroom/testkit';
import { programs } from '@postroom/testkit/programs';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkNow, verifyDomain } from '../src/verify-domain.ts';

// A separate task queue and worker that behave like the real ones, with a test DNS.
const taskQueue = `test-${randomUUID()}`;
const projectIdKey = defineSearchAttributeKey('projectId', SearchAttributeType.KEYWORD);
/** Test delays that replace the scheduled ones. */
let waits: Partial<typeof SCHEDULE> = {};
let world: DnsWorld;
const client = await temporalClient();
let native: NativeConnection;
let workers: Worker[];
let running: Promise<unknown>;

beforeAll(async () => {
  await startTestWorker(); // a process has one Temporal runtime, and this is who sets it up
  world = await startDnsWorld();
  native = await NativeConnection.connect({ address: config.TEMPORAL_ADDRESS });
  workers = await Promise.all([
    Worker.create({
      connection: native,
      taskQueue,
      workflowBundle: await programs().workflowBundle(),
    }),
    Worker.create({
      connection: native,
      taskQueue: `${taskQueue}-maintenance`,
      activities: {
        checkDomain: (id: string) => checkDomainWith(id, { dns: world.options, schedule: { ...SCHEDULE, ...waits } }),
      },
    }),
  ]);
  running = Promise.all(workers.map((worker) => worker.run()));
});
afterAll(async () => {
  for (const worker of workers) worker.shutdown();
  await running;
  await native.close();
  await world.close();
});

/** A domain with a running workflow, and its zone. */
async function start(schedule: typeof waits, checksPerRun?: number) {
  waits = schedule;
  const { id: projectId } = await createProject('Verification');
  const name = freshDomain();
  const servers = await world.zone(name);
  const { id } = await addUnwatchedDomain(projectId, name);
  const handle = await client.workflow.start(verifyDomain, {
    workflowId: id,
    taskQueue,
    args: checksPerRun === undefined ? [id] : [id, checksPerRun],
    typedSearchAttributes: [{ key: projectIdKey, value: projectId }],
  });
  const read = () => db.domain.findUniqueOrThrow({ where: { id } });
  const publish = async () => {
    const { records } = await read();
    for (const { name, type, value } of records as unknown as { name: string; type: 'TXT'; value: string }[]) {
      for (const server of servers) server.set(name, type, value);
    }
  };
  return { id, projectId, name, handle, read, publish };
}

const firstCheck = (read: () => Promise<{ checkedAt: Date | null }>) =>
  eventually(async () => expect((await read()).checkedAt).not.toBeNull());

test('a domain is verified automatically soon after its records are published', async () => {
  const { read, publish, handle } = await start({ waitsMs: [100], settledMs: 3_600_000 });
  await firstCheck(read);
  expect(await read()).toMatchObject({ verification: 'pending' });
  await publish();
  await eventually(async () =>
    expect(await read()).toMatchObject({ verification: 'verified', verifiedForSending: true }),
  );
  await handle.terminate();
});

test('check now does not wait until the next check is due', async () => {
  const { read, publish, handle } = await start({ waitsMs: [3_600_000] });
  await firstCheck(read);
  await publish();
  await handle.signal(checkNow);
  await eventually(async () => expect(await read()).toMatchObject({ verification: 'verified' }));
  await handle.terminate();
});

test('checks continue indefinitely under one id, in runs with short histories, and describe what they check', async () => {
  const { id, projectId, name, handle } = await start({ waitsMs: [50] }, 3);
  const { firstExecutionRunId } = handle;
  await eventually(async () => {
    const { runId } = await client.workflow.getHandle(id).describe();
    expect(runId).not.toBe(firstExecutionRunId);
  });
  const description = await client.workflow.getHandle(id).describe();
  expect(description.typedSearchAttributes.get(projectIdKey)).toBe(projectId);
  // The summary belongs to the first run; the details belong to the current one.
  const handleOfNext = client.workflow.getHandle(id);
  await eventually(async () =>
    expect(await handleOfNext.query('__temporal_workflow_metadata')).toMatchObject({
      currentDetails: expect.stringContaining(name),
    }),
  );
  const { events } = await client.workflow.getHandle(id, firstExecutionRunId).fetchHistory();
  expect(events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes).toBeTruthy();
  expect(events?.length).toBeLessThan(60);
  await client.workflow.getHandle(id).terminate();
});

test('a removed domain ends its workflow', async () => {
  const { id, projectId, read, handle } = await start({ waitsMs: [3_600_000] });
  await firstCheck(read);
  await removeDomain(projectId, id);
  expect(await handle.result()).toBe('gone');
});

test('adding a domain starts a workflow with its id that checks it, rechecks on request and ends on removal', async () => {
  const { id: projectId } = await createProject('Verification');
  const { id, domain } = await addDomain(projectId, { domain: freshDomain() }, 'usr_test');
  const handle = client.workflow.getHandle(id);
  const read = () => db.domain.findUniqueOrThrow({ where: { id } });
  await firstCheck(read);
  const description = await handle.describe();
  expect(description.typedSearchAttributes.get(projectIdKey)).toBe(projectId);
  expect(await description.staticSummary()).toBe(`Verification of ${domain}`);
  const { checkedAt } = await read();
  await requestCheck(projectId, id, 'usr_test');
  await eventually(async () => expect((await read()).checkedAt?.getTime()).toBeGreaterThan(checkedAt?.getTime() ?? 0));
  await removeDomain(projectId, id);
  expect(await handle.result()).toBe('gone');
});
