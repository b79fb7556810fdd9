import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '@postroom/testkit';
import { pool } from '../src/db.ts';
import { newId } from '../src/ids.ts';
import { deleteIdleSlots, SharedSlots, type SharedSlotsOptions } from '../src/shared-slots.ts';

/** Slots of one name are independent of each other, as those of two processes are. */
const sharing = (count: number, options: SharedSlotsOptions): SharedSlots[] => {
  const name = `test ${newId('key')}`;
  return Array.from({ length: count }, () => new SharedSlots(name, options));
};

/** A process that uses as many slots as it gets, up to `wanted`, and gives up those that others have a right to. */
function use(slots: SharedSlots, wanted: number) {
  const releases: (() => void)[] = [];
  let isEnded = false;
  slots.onExcess = () => {
    for (let excess = slots.excess; excess > 0; excess--) releases.pop()?.();
    if (!isEnded && !isFilling) void fill();
  };
  let isFilling = false;
  async function fill(): Promise<void> {
    isFilling = true;
    while (!isEnded && releases.length < wanted) {
      const release = slots.tryAcquire();
      if (release === undefined) await slots.untilReady(wanted - releases.length, 1_000);
      else releases.push(release);
    }
    isFilling = false;
  }
  const end = () => {
    isEnded = true;
    for (const release of releases.splice(0)) release();
  };
  onTestFinished(end);
  void fill();
  return {
    get used() {
      return releases.length;
    },
    end,
  };
}

const usedBy = (users: readonly { used: number }[]) => users.map(({ used }) => used);
const total = (users: readonly { used: number }[]) => users.reduce((sum, { used }) => sum + used, 0);

/** Checks the total many times a second. @returns a function that stops it and returns the most it saw. */
function watch(users: readonly { used: number }[]): () => number {
  let most = 0;
  const timer = setInterval(() => (most = Math.max(most, total(users))), 2);
  return () => {
    clearInterval(timer);
    return most;
  };
}

test('a lone process gets all slots, those that come later get equal shares, and there are never more in use', async () => {
  const [first, second, third] = sharing(3, { most: 10 }) as [SharedSlots, SharedSlots, SharedSlots];
  const users = [use(first, 20)];
  const mostOf = watch(users);
  await eventually(() => expect(usedBy(users)).toEqual([10]));
  users.push(use(second, 20));
  await eventually(() => expect(usedBy(users)).toEqual([5, 5]));
  users.push(use(third, 2));
  await eventually(() => expect(usedBy(users)).toEqual([4, 4, 2]));
  users[0]?.end();
  await eventually(() => expect(usedBy(users)).toEqual([0, 8, 2]));
  expect(mostOf()).toBe(10);
});

test('the slots of a killed process are free when its lease ends', async () => {
  const [killed, other] = sharing(2, { most: 4 }) as [SharedSlots, SharedSlots];
  const holder = newId('key');
  const request = { name: killed.name, holder, used: 4, wanted: 4, most: 4, leaseMs: 3_000, turnMs: 5_000 };
  await pool.query(
    `INSERT INTO shared_slots (name, holders, request, updated_at) VALUES ($1, lease_slots('{}', $2), $2, now())`,
    [killed.name, JSON.stringify(request)],
  );
  const user = use(other, 4);
  await sleep(1_500);
  expect(user.used).toBe(0);
  await eventually(() => expect(user.used).toBe(4));
});

test('with fewer slots than processes, each has its turn', async () => {
  const users = sharing(3, { most: 1 }).map((slots) => use(slots, 1));
  const mostOf = watch(users);
  const served = new Set<number>();
  await eventually(() => {
    for (const [index, { used }] of users.entries()) if (used > 0) served.add(index);
    expect(served.size).toBe(3);
  }, 40_000);
  expect(mostOf()).toBe(1);
}, 60_000);

test('a few slots are used without a statement, and count once a process needs more', async () => {
  const [first, second] = sharing(2, { most: 20, spare: 2 }) as [SharedSlots, SharedSlots];
  const rows = async () => (await pool.query('SELECT FROM shared_slots WHERE name = $1', [first.name])).rowCount;
  const few = [first.tryAcquire(), first.tryAcquire()];
  expect(few).not.toContain(undefined);
  expect(first.tryAcquire()).toBeUndefined();
  await sleep(1_500);
  expect(await rows()).toBe(0);
  const users = [use(second, 20)];
  await eventually(() => expect(total(users)).toBe(20));
  await first.untilReady(1);
  const third = first.tryAcquire();
  expect(third).toBeDefined();
  // Three are in use, with two to spare.
  await eventually(() => expect(total(users)).toBe(15));
  third?.();
  await eventually(() => expect(total(users)).toBe(20));
  for (const release of few) release?.();
});

test('callers that come while a lease is being requested all get a slot, as long as there are any', async () => {
  const [slots] = sharing(1, { most: 100, spare: 5 }) as [SharedSlots];
  const acquired: Promise<(() => void) | undefined>[] = [];
  for (let caller = 0; caller < 60; caller++) {
    acquired.push(slots.acquire());
    await setImmediate();
  }
  const releases = await Promise.all(acquired);
  expect(releases.filter((release) => release === undefined)).toHaveLength(0);
  const others = await Promise.all(Array.from({ length: 60 }, () => slots.acquire()));
  expect(others.filter((release) => release !== undefined)).toHaveLength(40);
  for (const release of [...releases, ...others]) release?.();
});

test('slots that are not used are returned, and a row without leases is deleted after an hour', async () => {
  let isIdle = false;
  const [slots] = sharing(1, { most: 3, onIdle: () => (isIdle = true) }) as [SharedSlots];
  const user = use(slots, 3);
  await eventually(() => expect(user.used).toBe(3));
  user.end();
  const holders = async () => {
    const { rows } = await pool.query('SELECT holders FROM shared_slots WHERE name = $1', [slots.name]);
    return rows[0]?.holders;
  };
  await eventually(async () => expect([isIdle, await holders()]).toEqual([true, {}]));
  await pool.query(`UPDATE shared_slots SET updated_at = now() - interval '2 hours' WHERE name = $1`, [slots.name]);
  expect(await deleteIdleSlots()).toBeGreaterThan(0);
  expect(await holders()).toBeUndefined();
});
