import { join } from 'node:path';
import { expect, test } from 'vitest';
import { figure, runScript } from '../run-script.ts';
import { orderOf, seededRandom } from './kills.ts';
import { nothingMoves, STALL_TIMEOUT_MS } from './settled.ts';

/** Runs `npm run chaos` on its own system. */
const chaos = (...options: string[]) => runScript(join(import.meta.dirname, 'main.ts'), ...options);

test('each component is killed equally often, in an order that the seed decides', () => {
  const order = orderOf(12, seededRandom(7));
  expect(order.toSorted()).toEqual(['gateway', 'postgres', 'temporal', 'worker'].flatMap((part) => [part, part, part]));
  expect(orderOf(12, seededRandom(7))).toEqual(order);
  expect(orderOf(12, seededRandom(8))).not.toEqual(order);
});

test('a retry due in five minutes is awaited, and an overdue one counts as stuck', () => {
  const stuck = nothingMoves();
  expect(stuck('7 open', 300_000, 0)).toBe(false);
  expect(stuck('7 open', 10_000, 290_000)).toBe(false);
  expect(stuck('7 open', 0, 300_000 + STALL_TIMEOUT_MS)).toBe(false);
  expect(stuck('7 open', 0, 300_001 + STALL_TIMEOUT_MS)).toBe(true);
  expect(stuck('6 open', 0, 300_001 + STALL_TIMEOUT_MS)).toBe(false);
});

test('under kill -9 of worker, gateway, Temporal and PostgreSQL nothing is lost or duplicated, of a campaign, transactional mail and webhooks, also to receivers that drop, stall, return garbage or a gigabyte', async () => {
  const { output, code } = await chaos(
    '--recipients',
    '2000',
    '--webhooks',
    '2000',
    '--no-heal',
    '--kills',
    '4',
    '--every',
    '3000',
  );
  expect(output).toContain('Nothing lost, nothing duplicated, nothing stuck.');
  expect(figure(output, 'kill -9 of worker, gateway, Temporal, PostgreSQL')).toBe('1, 1, 1, 1');
  expect(figure(output, 'Campaign')).toBe('completed');
  expect(figure(output, 'Duplicates at the mail server')).toBe('0');
  expect(figure(output, 'Events not received')).toBe('0');
  expect(figure(output, 'Not received')).toBe('0');
  expect(figure(output, 'Deliveries to one that drops connections: acknowledged')).toBe('0 of 50');
  expect(figure(output, 'Deliveries that are stuck')).toBe('0');
  expect(code).toBe(0);
}, 420_000);
