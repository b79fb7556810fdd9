import { pool } from '@postroom/platform';
import { signedIn, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { addLocalDomain, DayVolume, dayVolume, DEFAULT_WARMUP_STEPS, setWarmup, warmupsOf } from '../src/index.ts';

/** A project with a domain. */
async function withDomain() {
  const api = await testApi();
  const { id } = await addLocalDomain(api.projectId, 'warm.example');
  const volume = async () => {
    const today = await dayVolume(api.projectId, 'news@Warm.example');
    if (today === undefined) throw new Error('The domain is not in warm-up.');
    return today;
  };
  /** Advances the time by this many days. */
  const pass = async (days: number) => {
    await pool.query('UPDATE domain_volumes SET day = day - $2::int WHERE domain_id = $1', [id, days]);
    await pool.query('UPDATE domains SET warmup_since = warmup_since - $2::int WHERE id = $1', [id, days]);
  };
  return { api, id, volume, pass };
}

test('a domain has no warm-up by default, and a plan is offered', async () => {
  const { api } = await withDomain();
  expect(await dayVolume(api.projectId, 'news@warm.example')).toBeUndefined();
  const reply = await api.graphql('{ defaultWarmupSteps domains(first: 5) { nodes { warmup { step } } } }');
  expect(reply.body.data).toEqual({ defaultWarmupSteps: DEFAULT_WARMUP_STEPS, domains: { nodes: [{ warmup: null }] } });
});

test("project managers can set and remove a domain's warm-up, an API key cannot", async () => {
  const { api, id } = await withDomain();
  const query = `mutation ($id: ID!, $steps: [Int!]) { setDomainWarmup(id: $id, steps: $steps) {
    warmup { steps step isWarm todayLimit todaySent } } }`;
  const owner = await signedIn(api);
  const given = await owner.graphql(query, { id, steps: [50, 100] });
  expect(given.body.data.setDomainWarmup.warmup, JSON.stringify(given.body)).toEqual({
    steps: [50, 100],
    step: 1,
    isWarm: false,
    todayLimit: 50,
    todaySent: 0,
  });
  for (const steps of [[], [0], [100, 50], Array(91).fill(1)]) {
    expect((await owner.graphql(query, { id, steps })).body.errors[0].extensions.code).toBe('validation_error');
  }
  expect((await api.graphql(query, { id, steps: null })).body.errors[0].extensions.code).toBe('forbidden');
  expect((await owner.graphql(query, { id, steps: null })).body.data.setDomainWarmup.warmup).toBeNull();
});

test("concurrent reservations never exceed the day's quota, and released messages can be reserved again", async () => {
  const { api, id, volume } = await withDomain();
  await setWarmup(api.projectId, id, [100]);
  const takers = await Promise.all(Array.from({ length: 15 }, volume));
  const granted = await Promise.all(takers.map((taker) => taker.take(10)));
  expect(granted.reduce((sum, count) => sum + count, 0)).toBe(100);
  const [one] = takers;
  expect(await one?.take(10)).toBe(0);
  await one?.release(7);
  expect(await one?.left()).toBe(7);
  expect(await one?.take(10)).toBe(7);
});

test('messages reserved before midnight and released after it go back to their own day, and no more are reserved from it', async () => {
  const { api, id, volume } = await withDomain();
  await setWarmup(api.projectId, id, [10, 20]);
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  await pool.query('INSERT INTO domain_volumes (domain_id, day, messages) VALUES ($1, $2, 10)', [id, day]);
  const yesterday = new DayVolume(id, 'warm.example', day, [10, 20]);
  expect(await (await volume()).take(5)).toBe(5);
  await yesterday.release(4);
  expect(await yesterday.take(1)).toBe(0);
  expect((await warmupsOf([id])).get(id)).toMatchObject({ todaySent: 5 });
  expect(await yesterday.left()).toBe(4);
  await pool.query('UPDATE domain_volumes SET messages = 10 WHERE domain_id = $1 AND day = $2', [id, day]);
  // A campaign must not wait for tomorrow because of a day that has ended.
  expect(await yesterday.isUsedUp()).toBe(false);
});

test('each day with mail is a step, days without mail are not, and after the last there is no limit', async () => {
  const { api, id, volume, pass } = await withDomain();
  await setWarmup(api.projectId, id, [10, 20]);
  await (await volume()).take(10);
  expect((await volume()).limit).toBe(10);
  await pass(1);
  expect((await volume()).limit).toBe(20);
  await pass(5);
  expect((await warmupsOf([id])).get(id)).toMatchObject({ step: 2, todayLimit: 20, todaySent: 0, isWarm: false });
  await (await volume()).take(1);
  await pass(1);
  expect(await dayVolume(api.projectId, 'news@warm.example')).toBeUndefined();
  expect((await warmupsOf([id])).get(id)).toMatchObject({ isWarm: true, todayLimit: null });
});
