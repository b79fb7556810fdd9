import type { KillableWorker } from '@postroom/testkit';
import { expect } from 'vitest';

/** Recipients in fault tests. Mail to some is rejected, deferred or suppressed. */
export const NAMES = ['ada', 'refused', 'bob', 'later', 'gone', 'eve'];

/** Compares the mail that each address received (`got`) with the ledger and events of a project. */
export async function expectLedgerConsistent(
  { db }: KillableWorker,
  { projectId, addresses }: { projectId: string; addresses: string[] },
  maxUnknown: number,
  got: Map<string, number>,
): Promise<void> {
  const { rows } = await db.query<{ email: string; state: string }>(
    'SELECT email, state::text FROM messages WHERE project_id = $1',
    [projectId],
  );
  const inState = (state: string) => rows.filter((row) => row.state === state).length;
  expect(addresses.filter((address) => (got.get(address) ?? 0) > 1)).toEqual([]);
  for (const { email, state } of rows) {
    const end = email.startsWith('refused') ? 'failed' : email.startsWith('gone') ? 'suppressed' : 'unknown';
    expect(got.has(email) ? ['accepted', 'unknown'] : [end, 'unknown'], email).toContain(state);
  }
  expect(inState('unknown')).toBeLessThanOrEqual(maxUnknown);
  const { rows: events } = await db.query<{ type: string; count: number }>(
    'SELECT type, count(*)::int AS count FROM events WHERE project_id = $1 GROUP BY type ORDER BY type',
    [projectId],
  );
  const expected = [
    { type: 'email.failed', count: inState('failed') },
    { type: 'email.sent', count: inState('accepted') },
  ];
  expect(events).toEqual(expected.filter(({ count }) => count > 0));
}
