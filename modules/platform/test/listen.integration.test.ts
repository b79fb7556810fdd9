import { expect, onTestFinished, test, vi } from 'vitest';
import { pool } from '../src/db.ts';
import { CHANNEL, listen } from '../src/listen.ts';

test('a notification reaches only the listeners of its topic', async () => {
  const received: string[] = [];
  const listening = await Promise.all(
    ['noted', 'noted prj_a', 'noted prj_b', 'campaign prj_a'].map((topic) =>
      listen(topic, (payload) => received.push(`${topic}: ${payload}`)),
    ),
  );
  onTestFinished(async () => {
    for (const stop of listening) await stop();
  });
  await pool.query('SELECT pg_notify($1, $2)', [CHANNEL, 'noted prj_a dlv_1 dlv_2']);
  await pool.query('SELECT pg_notify($1, $2)', [CHANNEL, 'noted prj_c dlv_3']);
  await vi.waitFor(() => expect(received).toContain('noted: noted prj_c dlv_3'));
  expect(received).toEqual([
    'noted: noted prj_a dlv_1 dlv_2',
    'noted prj_a: noted prj_a dlv_1 dlv_2',
    'noted: noted prj_c dlv_3',
  ]);
});
