import { expect, test } from 'vitest';
import { stateOf } from '../src/endpoint-state.ts';

test.each([
  [0, 0, 'idle'],
  [1, 0, 'healthy'],
  [96, 4, 'healthy'],
  [95, 5, 'degraded'],
  [51, 49, 'degraded'],
  [50, 50, 'failing'],
  [0, 1, 'failing'],
])('after %i acknowledged and %i failed attempts an endpoint is %s', (acknowledged, failed, state) => {
  expect(stateOf({ acknowledged, failed })).toBe(state);
});
