import { expect, onTestFinished, test, vi } from 'vitest';
import { pool } from '../src/db.ts';
import { CHANNEL, listen } from '../src/listen.ts';

test('a notification reaches only the listeners of its topic', async () => {
  const received: string[] = [];
  const listening = await Promise.all(
    ['attempted', 'attempted prj_a', 'attempted prj_b', 'campaign prj_a'].map((topic) =>
      listen(topic, (payload) => received.push(`${topic}: ${payload}`)),
    ),
  );
  onTestFinished(async () => {
    for (const stop of listening) await stop();
  });
  await pool.query('SELECT pg_notify($1, $2)', [CHANNEL, 'attempted prj_a dlv_1 dlv_2']);
  await pool.query('SELECT pg_notify($1, $2)', [CHANNEL, 'attempted prj_c dlv_3']);
  await vi.waitFor(() => expect(received).toContain('attempted: attempted prj_c dlv_3'));
  expect(received).toEqual([
    'attempted: attempted prj_a dlv_1 dlv_2',
    'attempted prj_a: attempted prj_a dlv_1 dlv_2',
    'attempted: attempted prj_c dlv_3',
  ]);
});
