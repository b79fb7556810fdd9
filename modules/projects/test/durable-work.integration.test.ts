import { newId, pool } from '@postroom/platform';
import { recoverLost } from '@postroom/platform/durable-work';
import { createProject } from '@postroom/projects';
import { temporalClient } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { work } from '../src/durable-work.ts';

const client = await temporalClient();

const isStarted = (projectId: string) =>
  client.workflow
    .getHandle(`delete-${projectId}`)
    .describe()
    .then(
      () => true,
      () => false,
    );

/** As a request leaves a project whose workflow was lost since. */
const markDeleted = (projectId: string, minutesAgo: number) =>
  pool.query(
    `INSERT INTO project_cells (project_id, cell, state, move_id, changed_at)
     VALUES ($1, '', 'deleted', $1, now() - $2 * interval '1 minute')`,
    [projectId, minutesAgo],
  );

test('a deletion whose workflow was lost goes on; one that has just begun or is over is left alone', async () => {
  const [{ id: lost }, { id: recent }, over] = [
    await createProject('Lost'),
    await createProject('Recent'),
    newId('prj'),
  ];
  await markDeleted(lost, 2);
  await markDeleted(recent, 0);
  await markDeleted(over, 2);
  await Promise.all(work.map((kind) => recoverLost(client, kind)));
  expect(await Promise.all([lost, recent, over].map(isStarted))).toEqual([true, false, false]);
  // The worker of another test may have done it already.
  await client.workflow
    .getHandle(`delete-${lost}`)
    .terminate()
    .catch(() => {});
});
