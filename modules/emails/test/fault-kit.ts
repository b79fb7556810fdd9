import type { KillableWorker } from '@postroom/testkit';
import { expect } from 'vitest';

/** Who gets mail in tests of faults: of some it is refused, put off or suppressed. */
export const NAMES = ['ada', 'refused', 'bob', 'later', 'gone', 'eve'];

/** What everybody got, by how often, against what the tables say of a project's mail. */
export async function expectLedgerConsistent(
  { db }: KillableWorker,
  { projectId, addresses }: { projectId: string; addresses: string[] },
  mostUnknown: number,
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
  expect(inState('unknown')).toBeLessThanOrEqual(mostUnknown);
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
