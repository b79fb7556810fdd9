import { config, db } from '@postroom/platform';
import { createProject } from '@postroom/projects';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addLocalDomain } from '../src/domains.ts';
import { restartOverdue } from '../src/reconcile.ts';
import { freshDomain } from './dns-world.ts';
import { addUnwatchedDomain } from './testing.ts';

let client: Client;
beforeAll(async () => {
  client = new Client({ connection: await Connection.connect({ address: config.TEMPORAL_ADDRESS }) });
});
afterAll(() => client.connection.close());

const isStarted = (id: string) =>
  client.workflow
    .getHandle(id)
    .describe()
    .then(
      () => true,
      () => false,
    );

test('a domain whose workflow was lost is restarted, others are left alone', async () => {
  const { id: projectId } = await createProject('Overdue');
  const [lost, due, local] = [
    await addUnwatchedDomain(projectId, freshDomain()),
    await addUnwatchedDomain(projectId, freshDomain()),
    await addLocalDomain(projectId, freshDomain()),
  ];
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
  await db.domain.update({ where: { id: lost.id }, data: { nextCheckAt: hoursAgo(2) } });
  await db.domain.update({ where: { id: due.id }, data: { nextCheckAt: hoursAgo(0.5) } });
  await db.domain.update({ where: { id: local.id }, data: { createdAt: hoursAgo(200) } });
  // A worker of another test may have reconciled it already.
  await restartOverdue(client);
  await restartOverdue(client);
  expect([await isStarted(lost.id), await isStarted(due.id), await isStarted(local.id)]).toEqual([true, false, false]);
  await client.workflow.getHandle(lost.id).terminate();
});
