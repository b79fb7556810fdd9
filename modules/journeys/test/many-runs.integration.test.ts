import { pool } from '@postroom/platform';
import { type Api, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { advance } from '../src/advance.ts';
import { mergeCounts } from '../src/passages.ts';
import { enroll, makeDue, pathOf, published, runOf, wait } from './support.ts';

const signal = new AbortController().signal;

/** More runs than one transaction changes. */
const MANY = 7_500;

/** A journey with many runs at its first step, and a contact that is due there and the last in the order of ids. */
async function crowded() {
  const api = await testApi();
  const ada = await api.contact('ada@example.net');
  const id = await published(api, { steps: [wait('first', null)] });
  await enroll(api, id, [ada.id]);
  await makeDue(id);
  await pool.query(
    `INSERT INTO enrollments (id, project_id, journey_id, contact_id, version, step_id)
     SELECT 'enr_' || gen_random_uuid(), $1, $2, 'ctc_0' || lpad(i::text, 25, '0'), 1, 'first' FROM generate_series(1, ${MANY}) AS i`,
    [api.projectId, id],
  );
  const publish = async (inProgress: string) => {
    const definition = { entry: { type: 'manual' }, steps: [wait('first', 'second'), wait('second', null)] };
    await api.patch(`/v1/journeys/${id}`, { definition });
    const reply = await api.post(`/v1/journeys/${id}/publish`, { in_progress: inProgress });
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  };
  return { api, ada, id, publish, work: () => advance({ id, projectId: api.projectId }, signal) };
}

const journeyOf = async (api: Api, id: string) => (await api.get(`/v1/journeys/${id}`)).body.data;

const byVersion = async (api: Api, id: string) =>
  (await journeyOf(api, id)).inProgress.map(({ version, stepId, contactCount }: Record<string, unknown>) => [
    version,
    stepId,
    contactCount,
  ]);

test('a publication moves more contacts than one transaction can, and nobody takes a step of the old version meanwhile', async () => {
  const { api, ada, id, publish, work } = await crowded();
  await publish('move');
  expect(await byVersion(api, id)).toEqual([
    [1, 'first', MANY + 1 - 5_000],
    [2, 'first', 5_000],
  ]);
  await work();
  expect(await byVersion(api, id)).toEqual([
    [2, 'first', MANY],
    [2, 'second', 1],
  ]);
  expect(pathOf(await runOf(api, id, ada.id))).toEqual(['first new_version', 'first waited']);
  const { rows } = await pool.query(
    `SELECT count(*)::int AS steps, count(DISTINCT s.enrollment_id)::int AS runs FROM enrollment_steps s
     JOIN enrollments e ON e.id = s.enrollment_id WHERE e.journey_id = $1 AND s.outcome = 'new_version'`,
    [id],
  );
  expect(rows).toEqual([{ steps: MANY + 1, runs: MANY + 1 }]);
});

test('publications that follow each other are applied in order, also to a paused journey', async () => {
  const { api, id, publish, work } = await crowded();
  await publish('move');
  await publish('exit');
  await publish('finish');
  await api.post(`/v1/journeys/${id}/pause`);
  await work();
  expect((await journeyOf(api, id)).runs).toMatchObject({ active: 0, exited: MANY + 1 });
  const { rows } = await pool.query(
    'SELECT version, end_reason, count(*)::int FROM enrollments WHERE journey_id = $1 GROUP BY 1, 2',
    [id],
  );
  expect(rows).toEqual([{ version: 2, end_reason: 'new_version', count: MANY + 1 }]);
});

test('archiving ends more runs than one transaction can, whatever was still to be done to them', async () => {
  const { api, ada, id, publish, work } = await crowded();
  await publish('move');
  expect((await api.post(`/v1/journeys/${id}/archive`)).body.data).toMatchObject({ status: 'archived' });
  expect((await journeyOf(api, id)).runs).toMatchObject({ active: MANY + 1 - 5_000, exited: 5_000 });
  await work();
  expect((await journeyOf(api, id)).runs).toMatchObject({ active: 0, exited: MANY + 1 });
  expect(await runOf(api, id, ada.id)).toMatchObject({ endReason: 'journey_archived', steps: [] });
  expect(await work()).toEqual({ more: false, transitions: 0, triggers: 0 });
});

test('the runs of a journey are counted as they enter, pause, move, end and are deleted, and merging changes no count', async () => {
  const { api, ada, id } = await crowded();
  const run = await runOf(api, id, ada.id);
  const counted = async () => (await journeyOf(api, id)).runs;
  const none = { active: 0, paused: 0, completed: 0, exited: 0, reachedGoal: 0 };
  expect(await counted()).toEqual({ ...none, active: MANY + 1 });
  await api.post(`/v1/enrollments/${run.id}/pause`);
  expect(await counted()).toEqual({ ...none, active: MANY, paused: 1 });
  await api.post(`/v1/enrollments/${run.id}/move`, { step_id: 'first' });
  await api.post(`/v1/enrollments/${run.id}/remove`);
  expect(await counted()).toEqual({ ...none, active: MANY, exited: 1 });
  await pool.query(
    `UPDATE enrollments SET status = 'exited', end_reason = 'goal', ended_at = now() WHERE journey_id = $1 AND contact_id < $2`,
    [id, `ctc_0${'11'.padStart(25, '0')}`],
  );
  await pool.query(`DELETE FROM enrollments WHERE journey_id = $1 AND contact_id = $2`, [
    id,
    `ctc_0${'1'.padStart(25, '0')}`,
  ]);
  const expected = { ...none, active: MANY - 10, exited: 10, reachedGoal: 9 };
  expect(await counted()).toEqual(expected);
  await pool.query(
    `INSERT INTO journey_run_counts (journey_id, version, step_id, status, reached_goal, run_count)
     SELECT $1, 1, 'first', 'active', false, n FROM generate_series(1, 300), (VALUES (1), (-1)) AS v(n)`,
    [id],
  );
  await Promise.all([mergeCounts(() => {}), mergeCounts(() => {})]);
  expect(await counted()).toEqual(expected);
  const { rows } = await pool.query('SELECT count(*)::int FROM journey_run_counts WHERE journey_id = $1', [id]);
  expect(rows).toEqual([{ count: 3 }]);
});
