import { config, newId, pool } from '@postroom/platform';
import { eventually, runExclusively, startTestWorker, testApi, temporalClient } from '@postroom/testkit';
import { beforeAll, expect, test } from 'vitest';
import { countOverdueSchedules, ensureSchedules, runSchedules } from '../src/schedules.ts';

// Scheduled workflows delete expired rows of all projects.
runExclusively('retention');

beforeAll(startTestWorker);
const client = await temporalClient();

const schedule = () => client.schedule.getHandle(`${config.TEMPORAL_TASK_QUEUE}-delete-old`);

test('several workers make one schedule, which deletes every hour; one that a person paused stays paused', async () => {
  await schedule().pause('by the test');
  await Promise.all([ensureSchedules(client), ensureSchedules(client)]);
  const { spec, state } = await schedule().describe();
  expect(spec.intervals).toMatchObject([{ every: 3_600_000 }]);
  expect(state.paused).toBe(true);
  await schedule().unpause();
});

test('it runs when a worker starts as well, unless a person paused it', async () => {
  const actions = async () => (await schedule().describe()).info.numActionsTaken;
  const before = await actions();
  await schedule().pause('by the test');
  await runSchedules(client);
  expect(await actions()).toBe(before);
  await schedule().unpause();
  await runSchedules(client);
  await eventually(async () => expect(await actions()).toBe(before + 1));
});

test(
  'when its time has come, what is old is deleted by a workflow that says what it did',
  { timeout: 300_000 },
  async () => {
    const { projectId } = await testApi();
    // While a run goes on, such as that of the test before, the schedule skips the next.
    const { numActionsTaken: before } = await eventually(async () => {
      const { info } = await schedule().describe();
      expect(info.runningActions).toEqual([]);
      return info;
    }, 150_000);
    await pool.query(
      `INSERT INTO idempotency_keys (project_id, key, fingerprint, created_at) VALUES ($1, $2, '', now() - interval '2 days')`,
      [projectId, newId('req')],
    );
    await schedule().trigger();
    const last = await eventually(async () => {
      const { numActionsTaken, recentActions } = (await schedule().describe()).info;
      expect(numActionsTaken).toBe(before + 1);
      return recentActions.at(-1)?.action;
    });
    const result = await client.workflow.getHandle(last?.workflow.workflowId ?? '').result();
    expect(result).toMatchObject({ idempotencyKeys: expect.any(Number), events: expect.any(Number) });
    const { rows } = await pool.query('SELECT key FROM idempotency_keys WHERE project_id = $1', [projectId]);
    expect(rows).toEqual([]);
  },
);

test('a schedule that Temporal lacks counts as overdue', async () => {
  expect(await countOverdueSchedules(client)).toBe(0);
  await schedule().delete();
  expect(await countOverdueSchedules(client)).toBe(1);
  await ensureSchedules(client);
  expect(await countOverdueSchedules(client)).toBe(0);
});
