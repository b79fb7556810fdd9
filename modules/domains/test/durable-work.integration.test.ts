import { db } from '@postroom/platform';
import { recoverLost } from '@postroom/platform/durable-work';
import { createProject } from '@postroom/projects';
import { temporalClient } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { addLocalDomain } from '../src/domains.ts';
import { work } from '../src/durable-work.ts';
import { freshDomain } from './dns-world.ts';
import { addUnwatchedDomain } from './testing.ts';

const client = await temporalClient();

const isStarted = (id: string) =>
  client.workflow
    .getHandle(id)
    .describe()
    .then(
      () => true,
      () => false,
    );

const sweep = () => Promise.all(work.map((kind) => recoverLost(client, kind)));
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);

test('a domain whose workflow was lost is restarted, others are left alone', async () => {
  const { id: projectId } = await createProject('Overdue');
  const [lost, due, local] = [
    await addUnwatchedDomain(projectId, freshDomain()),
    await addUnwatchedDomain(projectId, freshDomain()),
    await addLocalDomain(projectId, freshDomain()),
  ];
  await db.domain.update({ where: { id: lost.id }, data: { nextCheckAt: minutesAgo(5) } });
  await db.domain.update({ where: { id: due.id }, data: { nextCheckAt: minutesAgo(1) } });
  await db.domain.update({ where: { id: local.id }, data: { createdAt: minutesAgo(12_000) } });
  await sweep();
  expect([await isStarted(lost.id), await isStarted(due.id), await isStarted(local.id)]).toEqual([true, false, false]);
  await client.workflow.getHandle(lost.id).terminate();
});

test('a domain whose workflow was terminated is restarted under the same id, and one that is only late is not', async () => {
  const { id: projectId } = await createProject('Terminated');
  const { id } = await addUnwatchedDomain(projectId, freshDomain());
  const late = { where: { id }, data: { nextCheckAt: minutesAgo(5) } };
  const runId = async () => (await client.workflow.getHandle(id).describe()).runId;
  await db.domain.update(late);
  await sweep();
  const first = await runId();
  await db.domain.update(late); // a worker of another test may have checked it
  await sweep();
  expect(await runId()).toBe(first);
  await client.workflow.getHandle(id).terminate();
  await db.domain.update(late);
  await sweep();
  expect(await runId()).not.toBe(first);
  await client.workflow.getHandle(id).terminate();
});
