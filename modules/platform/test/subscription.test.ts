import { expect, test } from 'vitest';
import { subscription, sleep } from '../src/subscription.ts';

test('a subscription ends as soon as its reader leaves, even while it waits for a change', async () => {
  let ended = false;
  const view = subscription(async function* (left) {
    yield 'now';
    while (!left.aborted) await sleep(60_000, left);
    ended = true;
  });
  expect(await view.next()).toEqual({ value: 'now', done: false });
  const waiting = view.next();
  await view.return?.();
  expect(await waiting).toEqual({ value: undefined, done: true });
  expect(ended).toBe(true);
});
