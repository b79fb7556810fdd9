import { inTransaction, newId, newIdAt, pool, sql, type Tx } from '@postroom/platform';
import { eventually, interleave, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { statistics } from '../src/statistics.ts';
import { COUNTED_EVENTS, countEvents, deleteOld, QUARTER_MS } from '../src/statistics-counts.ts';

const DAY_MS = 86_400_000;
const TYPES = Object.values(COUNTED_EVENTS);

const INSERT = `INSERT INTO events (id, project_id, type, data, created_at) SELECT id, $1, type, '{}', at
  FROM unnest($2::text[], $3::text[], $4::timestamptz[]) AS event (id, type, at)`;

interface Happened {
  type: string;
  at: number;
}

const valuesOf = (projectId: string, events: readonly Happened[]) => [
  projectId,
  events.map(({ at }) => newIdAt('evt', new Date(at))),
  events.map(({ type }) => type),
  events.map(({ at }) => new Date(at)),
];

/** Random numbers that repeat with the seed. */
function randomOf(seed: number) {
  let state = seed;
  return (limit: number) => (state = (state * 48_271) % 2_147_483_647) % limit;
}

const happenedIn = (random: (limit: number) => number, count: number): Happened[] =>
  Array.from({ length: count }, () => ({
    type: TYPES[random(TYPES.length)] ?? '',
    at: Date.now() - random(10 * DAY_MS),
  }));

/** The number of each type between two times, counted without a database. */
const totalsOf = (events: readonly Happened[], since: number, until: number) =>
  Object.fromEntries(
    Object.entries(COUNTED_EVENTS).map(([name, type]) => [
      name,
      events.filter((event) => event.type === type && event.at >= since && event.at < until).length,
    ]),
  );

const countedOf = async (projectId: string) =>
  (await pool.query('SELECT sum(number)::int AS sum FROM statistics_counts WHERE project_id = $1', [projectId])).rows[0]
    .sum;

/** Counts by two runs at once. Transactions of other tests may delay it, as all that began before must have ended. */
const countAll = (projectId: string, count: number) =>
  eventually(async () => {
    await Promise.all([countEvents(), countEvents()]);
    expect(await countedOf(projectId)).toBe(count);
  });

test('statistics are what a count of every event gives, whatever part of them has been added up before', async () => {
  const [{ projectId }, other] = [await testApi(), await testApi()];
  const random = randomOf(7);
  const all: Happened[] = [];
  const add = async (count: number) => {
    const events = happenedIn(random, count);
    await pool.query(INSERT, valuesOf(projectId, events));
    all.push(...events);
  };
  await pool.query(INSERT, valuesOf(other.projectId, happenedIn(random, 50)));
  for (let round = 0; round < 4; round++) {
    await add(300);
    if (round > 0) await countAll(projectId, all.length);
    if (round < 3) await add(100);
    for (let period = 0; period < 12; period++) {
      const since = Date.now() - random(9 * DAY_MS) - 1;
      const until = period % 3 === 0 ? undefined : since + 1 + random(period % 3 === 1 ? QUARTER_MS : 5 * DAY_MS);
      const series = await statistics(projectId, {
        since: new Date(since),
        until: until === undefined ? undefined : new Date(until),
        step: period % 2 === 0 ? 'hour' : 'day',
        timeZone: ['UTC', 'Asia/Kathmandu', 'America/St_Johns'][period % 3] ?? '',
      });
      const summed = Object.fromEntries(
        Object.keys(COUNTED_EVENTS).map((name) => [
          name,
          series.reduce((sum, point) => sum + point[name as keyof typeof COUNTED_EVENTS], 0),
        ]),
      );
      expect(summed, `round ${round}, period ${period}`).toEqual(totalsOf(all, since, until ?? Infinity));
    }
  }
});

test('each point has the events of its hour or day in the time zone', async () => {
  const { projectId } = await testApi();
  const at = (time: string) => ({ type: 'email.sent', at: Date.parse(time) });
  const events = ['09T18:14:59.999Z', '09T18:15:00Z', '09T18:59:00Z', '10T18:15:00Z'].map((time) =>
    at(`2026-11-${time}`),
  );
  await pool.query(INSERT, valuesOf(projectId, events));
  const days = async () => {
    const period = { since: new Date('2026-11-09T10:00:00Z'), until: new Date('2026-11-11T10:00:00Z') };
    const series = await statistics(projectId, { ...period, step: 'day', timeZone: 'Asia/Kathmandu' });
    return series.map(({ sent }) => sent);
  };
  expect(await days()).toEqual([1, 2, 1]);
  await countAll(projectId, 4);
  expect(await days()).toEqual([1, 2, 1]);
});

test('hours and days are whole where clocks change', async () => {
  const { projectId } = await testApi();
  const startsOf = async (step: 'hour' | 'day', timeZone: string, since: string, until: string) =>
    (await statistics(projectId, { since: new Date(since), until: new Date(until), step, timeZone })).map(({ at }) =>
      at.toISOString().slice(5, 16),
    );
  expect(await startsOf('day', 'Europe/Berlin', '2026-10-24T10:00Z', '2026-10-26T10:00Z')).toEqual([
    '10-23T22:00',
    '10-24T22:00',
    '10-25T23:00',
  ]);
  // The clocks go forward at midnight, so that the day begins at one.
  expect(await startsOf('day', 'America/Santiago', '2026-09-05T12:00Z', '2026-09-07T12:00Z')).toEqual([
    '09-05T04:00',
    '09-06T04:00',
    '09-07T03:00',
  ]);
  expect(await startsOf('hour', 'Asia/Kathmandu', '2026-11-09T10:00Z', '2026-11-09T11:15Z')).toEqual([
    '11-09T09:15',
    '11-09T10:15',
  ]);
  // Clocks go back half an hour, and then hours begin at half past.
  const at = Date.parse('2026-04-04T16:20:00Z');
  await pool.query(INSERT, valuesOf(projectId, [{ type: 'email.sent', at }]));
  const series = await statistics(projectId, {
    since: new Date('2026-04-04T12:00:00Z'),
    until: new Date('2026-04-04T18:00:00Z'),
    step: 'hour',
    timeZone: 'Australia/Lord_Howe',
  });
  expect(series.reduce((sum, { sent }) => sum + sent, 0)).toBe(1);
});

test('events of a transaction that ends after later ones were added up are counted, and once', async () => {
  const { projectId } = await testApi();
  const sent = async () => {
    const series = await statistics(projectId, { since: new Date(Date.now() - DAY_MS), step: 'hour', timeZone: 'UTC' });
    return series.reduce((sum, point) => sum + point.sent, 0);
  };
  const soon = () => ({ type: 'email.sent', at: Date.now() - 3 * QUARTER_MS });
  await inTransaction(async (slow) => {
    await sql(slow, INSERT, valuesOf(projectId, [soon(), soon()]));
    await pool.query(INSERT, valuesOf(projectId, [soon()]));
    await countEvents();
    expect(await sent()).toBe(1);
  });
  expect(await sent()).toBe(3);
  for (let run = 0; run < 2; run++) {
    await countAll(projectId, 3);
    expect(await sent()).toBe(3);
  }
});

test('first hits are added up as they are classified, and counts outlive what was counted', async () => {
  const { projectId } = await testApi();
  const at = new Date(Date.now() - 2 * DAY_MS);
  const hit = await pool.query<{ id: string }>(
    `INSERT INTO tracking_hits (message_id, kind, at) VALUES ($1, 'open', $2), ($1, 'open', $2) RETURNING id`,
    [newId('eml'), at],
  );
  const classify = `UPDATE tracking_hits SET verdict = 'person', project_id = $2, is_first = id = $3 WHERE id = ANY ($1)`;
  const ids = hit.rows.map(({ id }) => id);
  await pool.query(classify, [ids, projectId, ids[0]]);
  await pool.query('UPDATE tracking_hits SET network = NULL WHERE id = ANY ($1)', [ids]);
  await pool.query(INSERT, valuesOf(projectId, [{ type: 'email.sent', at: at.getTime() }]));
  await countAll(projectId, 2);
  await pool.query('DELETE FROM tracking_hits WHERE id = ANY ($1)', [ids]);
  await pool.query('DELETE FROM events WHERE project_id = $1', [projectId]);
  const period = { since: new Date(Math.floor(at.getTime() / DAY_MS) * DAY_MS), step: 'day', timeZone: 'UTC' } as const;
  const [first] = await statistics(projectId, period);
  expect(first).toMatchObject({ opened: 1, openedByMachines: 0, sent: 1 });
  await pool.query(`UPDATE statistics_counts SET at = at - interval '402 days' WHERE project_id = $1`, [projectId]);
  expect((await deleteOld({ onBatch: () => {} })).statisticsCounts).toBeGreaterThanOrEqual(2);
});

test('statistics reach back as many days as the project says, however short its events are kept', async () => {
  const { projectId, ...api } = await testApi();
  await pool.query('UPDATE projects SET event_retention_days = 1 WHERE id = $1', [projectId]);
  const { body } = await api.graphql('{ projects { id statisticsDays } }');
  const { statisticsDays } = body.data.projects.find(({ id }: { id: string }) => id === projectId);
  const since = (days: number) => new Date(Date.now() - days * DAY_MS);
  await pool.query(INSERT, valuesOf(projectId, [{ type: 'email.sent', at: since(statisticsDays - 0.5).getTime() }]));
  await countAll(projectId, 1);
  await pool.query('DELETE FROM events WHERE project_id = $1', [projectId]);
  const points = (days: number) => statistics(projectId, { since: since(days), step: 'day', timeZone: 'UTC' });
  expect((await points(statisticsDays - 0.1)).map(({ sent }) => sent).filter((sent) => sent > 0)).toEqual([1]);
  await expect(points(statisticsDays + 1)).rejects.toThrow('days ago');
});

test('a database that was loaded from a dump, where transactions are numbered from the beginning, loses no event', async () => {
  const { projectId } = await testApi();
  await pool.query(INSERT, valuesOf(projectId, [{ type: 'email.sent', at: Date.now() - DAY_MS / 2 }]));
  await countAll(projectId, 1);
  await pool.query('UPDATE statistics_progress SET xact = 4000000000000 WHERE project_id = $1', [projectId]);
  await pool.query('UPDATE events SET xact = 3999999999999 WHERE project_id = $1', [projectId]);
  await pool.query(INSERT, valuesOf(projectId, [{ type: 'email.sent', at: Date.now() - DAY_MS / 2 }]));
  await countEvents();
  const series = await statistics(projectId, { since: new Date(Date.now() - DAY_MS), step: 'hour', timeZone: 'UTC' });
  expect(series.reduce((sum, { sent }) => sum + sent, 0)).toBe(2);
});

test('a project that is deleted while its events are being counted ends no count', async () => {
  const { projectId } = await testApi();
  await pool.query(INSERT, valuesOf(projectId, [{ type: 'email.sent', at: Date.now() - DAY_MS }]));
  const deletion = (tx: Tx) => sql(tx, 'DELETE FROM projects WHERE id = $1', [projectId]);
  await interleave(deletion, countEvents);
  expect(await countedOf(projectId)).toBe(null);
});
