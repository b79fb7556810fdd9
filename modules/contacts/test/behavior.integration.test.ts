import { pool } from '@postroom/platform';
import { runExclusively, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { compileFilter, Parameters, readFilter } from '@postroom/segment-filters';

// Tests of retention drop partitions of events.
runExclusively('retention');

type Filter = Record<string, unknown>;
type Where = { property: string; op: string; value?: unknown };

interface Event {
  contact: number;
  name: string;
  at: number;
  properties: Record<string, unknown>;
}

const DAY_MS = 86_400_000;
const CONTACTS = 12;

/** A linear congruential generator, so that a failure can be repeated. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

// ---- A straightforward evaluation -----------------------------------------------------------------------------------

function valueAt(properties: Record<string, unknown>, path: string): unknown {
  if (Object.hasOwn(properties, path)) return properties[path];
  let value: unknown = properties;
  for (const key of path.split('.')) value = (value as Record<string, unknown> | null | undefined)?.[key];
  return value;
}

function passes(properties: Record<string, unknown>, { property, op, value: wanted }: Where): boolean {
  const value = valueAt(properties, property);
  const contains =
    (typeof value === 'string' && value.toLowerCase().includes(String(wanted).toLowerCase())) ||
    (Array.isArray(value) && value.includes(wanted));
  const isNumber = typeof value === 'number';
  const results: Record<string, boolean> = {
    is: value === wanted,
    isNot: value !== wanted,
    contains,
    notContains: !contains,
    moreThan: isNumber && value > (wanted as number),
    lessThan: isNumber && value < (wanted as number),
    atLeast: isNumber && value >= (wanted as number),
    atMost: isNumber && value <= (wanted as number),
    isSet: value != null,
    isNotSet: value == null,
  };
  return results[op] as boolean;
}

/** The start of the day in UTC. */
const dayOf = (time: number) => Math.floor(time / DAY_MS) * DAY_MS;

/** Whether the times of the events that count, in ascending order, fulfil the condition. Days are days in UTC. */
function fulfils(times: number[], { op, value, times: needed = 1 }: Filter, now: number): boolean {
  const from = dayOf(typeof value === 'number' ? now - value * DAY_MS : new Date(String(value)).getTime());
  const [first = Infinity, last = Infinity] = [times[0], times.at(-1)];
  const since = times.filter((at) => at >= from).length >= (needed as number);
  const ever = times.length >= (needed as number);
  const isFirstSince = first !== Infinity && first >= from;
  const results: Record<string, boolean> = {
    ever,
    never: !ever,
    since,
    notSince: !since,
    inLast: since,
    notInLast: !since,
    firstSince: isFirstSince,
    firstInLast: isFirstSince,
    firstBefore: first < from,
    lastBefore: last < from,
  };
  return results[op as string] as boolean;
}

// ---- Random data ----------------------------------------------------------------------------------------------------

const NAMES = ['order placed', 'signed in'];
const PROPERTIES: Record<string, unknown>[] = [
  {},
  { plan: 'Pro', total: 5 },
  { plan: 'free', total: 50.5, cart: { total: 7 } },
  { plan: null, tags: ['a', 'Pro'] },
  { 'cart.total': 9, cart: { total: 1 } },
  { cart: 'none', total: '50', paid: true },
];
const WHERE: Where[] = [
  { property: 'plan', op: 'is', value: 'Pro' },
  { property: 'plan', op: 'isNot', value: 'Pro' },
  { property: 'plan', op: 'contains', value: 'PR' },
  { property: 'tags', op: 'contains', value: 'Pro' },
  { property: 'plan', op: 'notContains', value: 'r' },
  { property: 'total', op: 'moreThan', value: 5 },
  { property: 'total', op: 'lessThan', value: 50 },
  { property: 'cart.total', op: 'atLeast', value: 7 },
  { property: 'cart.total', op: 'atMost', value: 7 },
  { property: 'plan', op: 'isSet' },
  { property: 'cart.total', op: 'isNotSet' },
  { property: 'paid', op: 'is', value: true },
];
const OF_TIME = ['since', 'notSince', 'firstSince', 'firstBefore', 'lastBefore'];
const OF_DAYS = ['inLast', 'notInLast', 'firstInLast'];

function randomCondition(random: (below: number) => number, now: number): Filter {
  const pick = <T>(items: readonly T[]) => items[random(items.length)] as T;
  const op = pick([...OF_TIME, ...OF_DAYS, 'ever', 'never']);
  const value = OF_TIME.includes(op)
    ? new Date(now - random(25 * 24 * 60) * 60_000).toISOString()
    : OF_DAYS.includes(op)
      ? 1 + random(25)
      : undefined;
  return {
    field: 'event',
    op,
    event: pick(NAMES),
    ...(value !== undefined && { value }),
    ...(!/^(first|last)/.test(op) && random(2) === 0 && { times: 1 + random(4) }),
    ...(random(2) === 0 && { where: Array.from({ length: 1 + random(2) }, () => pick(WHERE)) }),
  };
}

test.each([1, 2, 3])('conditions on events mean what a plain evaluation of all events says, data %i', async (seed) => {
  const random = randomFrom(seed);
  const api = await testApi();
  const others = await testApi();
  const ids: string[] = [];
  for (let index = 0; index < CONTACTS; index++) ids.push((await api.contact(`c${index}@example.com`)).id);
  const now = Date.now();
  const events: Event[] = Array.from({ length: 90 }, () => ({
    // The last contact has none.
    contact: random(CONTACTS - 1),
    name: NAMES[random(2)] as string,
    at: now - (random(26 * 24) * 60 + 30) * 60_000,
    properties: PROPERTIES[random(PROPERTIES.length)] as Record<string, unknown>,
  }));
  const { body } = await api.post('/v1/events', {
    events: events.map(({ contact, name, at, properties }) => ({
      name,
      contact_id: ids[contact],
      properties,
      occurred_at: new Date(at).toISOString(),
    })),
  });
  expect(body.data).toMatchObject({ accepted: events.length });
  const stranger = { name: NAMES[0], email: 'c0@example.com', create_contact: true };
  expect((await others.post('/v1/events', stranger)).status).toBe(200);

  const evaluate = (filter: Filter, contact: number): boolean => {
    if (Array.isArray(filter.and)) return filter.and.every((each: Filter) => evaluate(each, contact));
    if (Array.isArray(filter.or)) return filter.or.some((each: Filter) => evaluate(each, contact));
    if (filter.not !== undefined) return !evaluate(filter.not as Filter, contact);
    const where = (filter.where ?? []) as Where[];
    const times = events
      .filter((event) => event.contact === contact && event.name === filter.event)
      .filter(({ properties }) => where.every((condition) => passes(properties, condition)))
      .map(({ at }) => at)
      .sort((one, other) => one - other);
    return fulfils(times, filter, now);
  };
  for (let round = 0; round < 60; round++) {
    const [one, other] = [randomCondition(random, now), randomCondition(random, now)];
    const filter: Filter = [one, { and: [one, other] }, { or: [one, { not: other }] }, { not: one }][
      round % 4
    ] as Filter;
    const expected = ids.filter((_, index) => evaluate(filter, index)).sort();
    const read = readFilter(filter, new Map());
    expect(read.problems).toEqual([]);
    for (const fewContacts of [false, true]) {
      const parameters = new Parameters({ fewContacts });
      const project = parameters.add(api.projectId);
      const { rows } = await pool.query<{ id: string }>(
        `SELECT c.id FROM contacts c WHERE c.project_id = ${project} AND ${compileFilter(read.filter, parameters)} ORDER BY c.id`,
        parameters.values,
      );
      expect(
        rows.map(({ id }) => id),
        JSON.stringify(filter),
      ).toEqual(expected);
    }
  }
});

test('days are at most those that the project keeps events, and a filter has at most ten conditions on events', async () => {
  const api = await testApi();
  const preview = (filter: unknown) => api.post('/v1/segments/preview', { filter });
  const inLast = (value: number) => ({ or: [{ field: 'event', op: 'in_last', value, event: 'a' }] });
  await pool.query('UPDATE projects SET custom_event_retention_days = 60 WHERE id = $1', [api.projectId]);
  expect((await preview(inLast(60))).status).toBe(200);
  const { status, body } = await preview(inLast(61));
  expect([status, body.error.details]).toEqual([
    400,
    [{ field: 'filter.or.0.value', message: 'must be at most 60: the project keeps events for 60 days' }],
  ]);
  const ever = { field: 'event', op: 'ever', event: 'a' };
  expect((await preview({ or: Array.from({ length: 10 }, () => ever) })).status).toBe(200);
  const tooMany = await preview({ or: Array.from({ length: 11 }, () => ever) });
  expect([tooMany.status, tooMany.body.error.details]).toEqual([
    400,
    [{ field: 'filter', message: 'must have at most 10 conditions on events' }],
  ]);
  const timesOfLast = await preview({ ...ever, op: 'last_before', value: '2026-01-01', times: 2 });
  expect(timesOfLast.body.error.details).toEqual([
    { field: 'filter.times', message: 'must be omitted for lastBefore' },
  ]);
});

test('a few contacts are looked up by index, whatever the condition', async () => {
  const api = await testApi();
  const parameters = new Parameters({ fewContacts: true });
  const ids = parameters.add(['ctc_a', 'ctc_b']);
  const where = [{ property: 'a', op: 'isSet' }];
  const conditions = [{}, { times: 2 }, { where }, { times: 2, where }].map(
    (more) => readFilter({ field: 'event', op: 'ever', event: 'a', ...more }, new Map()).filter,
  );
  const sql = compileFilter({ or: conditions }, parameters);
  const { rows } = await pool.query<Record<string, string>>(
    `EXPLAIN (COSTS OFF) SELECT c.id FROM contacts c WHERE c.id = ANY (${ids}) AND c.project_id = ${parameters.add(api.projectId)} AND ${sql}`,
    parameters.values,
  );
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  // Each of the four is evaluated for the contact at hand, not hashed or joined for all contacts.
  expect(plan.match(/SubPlan/g)).toHaveLength(8);
  expect(plan).not.toMatch(/hashed|Join/);
});

test('journeys: who is in one now, and who ever was', async () => {
  const api = await testApi();
  const others = await testApi();
  const preview = (filter: unknown) => api.post('/v1/segments/preview', { filter });
  const journeyOf = async (owner: typeof api, name: string) =>
    (await owner.post('/v1/journeys', { name })).body.data.id as string;
  const [welcome, trial, foreign] = [
    await journeyOf(api, 'Welcome'),
    await journeyOf(api, 'Trial'),
    await journeyOf(others, 'Welcome'),
  ];
  const enroll = async (journeyId: string, name: string, status: string) => {
    const { id } = await api.contact(`${name}@example.com`);
    await pool.query(
      `INSERT INTO enrollments (id, project_id, journey_id, contact_id, version, status, step_id, ended_at)
       VALUES ($1, $2, $3, $4, 1, $5::enrollment_status, 'a', CASE WHEN $5 IN ('active', 'paused') THEN NULL ELSE now() END)`,
      [`enr_${id.slice(4)}`, api.projectId, journeyId, id, status],
    );
  };
  await enroll(welcome, 'ada', 'active');
  await enroll(welcome, 'bob', 'paused');
  await enroll(welcome, 'eve', 'completed');
  await enroll(trial, 'kim', 'exited');
  await api.contact('max@example.com');
  const found = async (field: string, op: string, value: unknown) => {
    const { body } = await preview({ field, op, value });
    return (body.data.contacts as { email: string }[])
      .map(({ email }) => email.split('@')[0])
      .sort()
      .join(' ');
  };
  expect(await found('journey', 'is', welcome)).toBe('ada bob');
  expect(await found('journey', 'is_not', welcome)).toBe('eve kim max');
  expect(await found('journey', 'in', [welcome, trial])).toBe('ada bob');
  expect(await found('ever_in_journey', 'is', welcome)).toBe('ada bob eve');
  expect(await found('everInJourney', 'in', [welcome, trial])).toBe('ada bob eve kim');
  expect(await found('everInJourney', 'notIn', [welcome, trial])).toBe('max');
  const problems = await Promise.all(
    ['seg_x', foreign, `jrn_${'0'.repeat(26)}`].map(async (value) => {
      const { status, body } = await preview({ field: 'journey', op: 'is', value });
      return [status, body.error.details[0].field, body.error.details[0].message];
    }),
  );
  expect(problems).toEqual([
    [400, 'filter.value', 'must be the id of a journey'],
    [400, 'filter', `${foreign} is not a journey of this project`],
    [400, 'filter', `jrn_${'0'.repeat(26)} is not a journey of this project`],
  ]);
});
