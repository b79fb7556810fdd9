import { newId } from '@postroom/platform';
import { eventually, mailSystem } from '@postroom/testkit';
import { expect, test } from 'vitest';

const { sink, system } = await mailSystem();

test("among emails of several senders, those whose way is gone wait, and the others' go out", async () => {
  const api = await system.api();
  await system.pool.query(
    `INSERT INTO domains (id, project_id, domain, verified_for_sending, verification, dkim, mail_from, dmarc, updated_at)
     VALUES ($1, $2, 'down.example', true, 'verified', 'verified', 'verified', 'verified', now())`,
    [newId('dom'), api.projectId],
  );
  // Nothing listens at port 9 of this machine.
  await system.pool.query(
    `INSERT INTO mail_providers (id, project_id, domain, name, kind, settings, token)
     VALUES ($1, $2, 'down.example', 'gone', 'smtp', '{"host": "127.0.0.1", "port": 9, "tls": "optional"}', $1)`,
    [newId('prv'), api.projectId],
  );
  const email = (from: string, to: string) => ({ from, to, subject: 'Hi', text: 'Hi' });
  const emails = Array.from({ length: 100 }, (_, index) =>
    index < 50
      ? email('news@down.example', `waits${index}@mail.test`)
      : email('news@example.com', `goes${index}@mail.test`),
  );
  const reply = await api.post('/v1/emails/batch', { emails });
  expect(reply.status, JSON.stringify(reply.body).slice(0, 300)).toBe(202);
  await eventually(() => expect(sink.mails.filter(({ to }) => to.startsWith('goes'))).toHaveLength(50));
  await eventually(async () => {
    const { rows } = await system.pool.query(
      `SELECT state, count(*)::int AS count FROM messages WHERE project_id = $1 AND email LIKE 'waits%' GROUP BY state`,
      [api.projectId],
    );
    expect(rows).toEqual([{ state: 'planned', count: 50 }]);
  });
  expect(sink.mails.some(({ to }) => to.startsWith('waits'))).toBe(false);
});
