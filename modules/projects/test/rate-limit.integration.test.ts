import { setTimeout as sleep } from 'node:timers/promises';
import { config, newId } from '@postroom/platform';
import { takeRequest } from '@postroom/projects';
import { afterEach, expect, test } from 'vitest';

const { RATE_LIMIT_PER_SECOND, RATE_LIMIT_PROJECT_PER_SECOND } = config;
afterEach(() => void Object.assign(config, { RATE_LIMIT_PER_SECOND, RATE_LIMIT_PROJECT_PER_SECOND }));

test('a burst gets what the limit of its project allows, and the rest is refused in its name', async () => {
  config.RATE_LIMIT_PROJECT_PER_SECOND = 3;
  const [caller, project] = [newId('key'), newId('prj')];
  const answers = await Promise.all(Array.from({ length: 30 }, () => takeRequest(caller, project)));
  expect(answers.filter(({ allowed }) => allowed)).toHaveLength(3);
  expect(answers.at(-1)).toMatchObject({ allowed: false, of: 'project', limit: 3, remaining: 0 });
});

test('what remains is less than the limit, also when the bucket was refilled since this process took tokens', async () => {
  config.RATE_LIMIT_PER_SECOND = 100;
  const caller = newId('key');
  // At two thirds of the rate, the bucket is full whenever this process takes its next tokens.
  for (let request = 0; request < 100; request++) {
    const { remaining } = await takeRequest(caller, undefined);
    expect(remaining).toBeLessThan(100);
    await sleep(15);
  }
});
