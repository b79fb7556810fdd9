import { config, newId } from '@postroom/platform';
import { eventually, mailSystem, type Receiver, startReceiver, type SystemApi } from '@postroom/testkit';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';

let isMailServerDown = false;
const { system, sink } = await mailSystem(() =>
  isMailServerDown ? { code: 451, message: '4.3.2 Come back later' } : undefined,
);
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver((_, response) => void response.writeHead(500).end());
});
afterAll(() => receiver.close());

async function member(projectId: string, email: string, role: string): Promise<void> {
  const id = newId('usr');
  await system.pool.query('INSERT INTO users (id, name, email, updated_at) VALUES ($1, $2, $2, now())', [id, email]);
  await system.pool.query('INSERT INTO members (project_id, user_id, role) VALUES ($1, $2, $3::role)', [
    projectId,
    id,
    role,
  ]);
}

test(
  'owners and admins are told by mail when an endpoint is disabled automatically, once each time',
  { timeout: 90_000 },
  async () => {
    const api = await system.api();
    await member(api.projectId, 'ada@example.com', 'owner');
    await member(api.projectId, 'grace@example.com', 'admin');
    await member(api.projectId, 'viewer@example.com', 'viewer');
    const { id } = (await api.post('/v1/webhooks', { url: receiver.url, events: ['*'], description: 'Our CRM' })).body
      .data;
    const failFor3Days = () =>
      system.pool.query(`UPDATE webhook_endpoints SET failing_since = now() - interval '3 days' WHERE id = $1`, [id]);
    await failFor3Days();
    // Several concurrent attempts find that it keeps failing; one of them disables it.
    const emails = Array.from({ length: 40 }, (_, n) => ({ email: `contact${n}@example.com` }));
    await api.post('/v1/contacts/batch', { contacts: emails });

    await eventually(() => expect(sink.mails).toHaveLength(2));
    expect(sink.mails.map(({ to }) => to).sort()).toEqual(['ada@example.com', 'grace@example.com']);
    for (const { raw: folded } of sink.mails) {
      const raw = folded.replaceAll('=\r\n', ''); // quoted-printable folds long lines
      expect(raw).toMatch(/^Subject: Webhooks to 127\.0\.0\.1:\d+ were stopped/m);
      for (const said of [receiver.url, 'Our CRM', '3 days', id, '7 days']) expect(raw).toContain(said);
    }

    const disable = await api.get(`/v1/webhooks/${id}`);
    expect(disable.body.data).toMatchObject({ enabled: false });
    await system.pool.query(
      `UPDATE webhook_endpoints SET enabled = true, disabled_at = NULL, disabled_reason = NULL,
         failures_in_row = 0, failing_since = NULL WHERE id = $1`,
      [id],
    );
    await failFor3Days();
    await api.post(`/v1/webhooks/${id}/test`);
    await eventually(() => expect(sink.mails).toHaveLength(4));
    // The row is deleted after its workflow has started, which may have sent its mail by then.
    await eventually(async () => {
      const { rows } = await system.pool.query('SELECT count(*)::int AS left FROM outbox');
      expect(rows).toEqual([{ left: 0 }]);
    });
  },
);

/** Has a failing endpoint of a project with these owners disabled, while the mail server is down. */
async function disableEndpoint(api: SystemApi, owners: readonly string[]): Promise<void> {
  for (const name of owners) await member(api.projectId, `${name}@example.com`, 'owner');
  isMailServerDown = true;
  const { id } = (await api.post('/v1/webhooks', { url: receiver.url, events: ['*'] })).body.data;
  await system.pool.query(`UPDATE webhook_endpoints SET failing_since = now() - interval '3 days' WHERE id = $1`, [id]);
  await api.post(`/v1/webhooks/${id}/test`);
}

test(
  'a notification whose email was under way when the worker was killed is emailed by the next one, once',
  { timeout: 180_000 },
  async () => {
    const api = await system.api();
    await disableEndpoint(api, ['edith', 'joan']);
    await eventually(async () => {
      const { rows } = await system.pool.query(
        'SELECT count(*)::int AS recipients FROM notification_recipients WHERE project_id = $1',
        [api.projectId],
      );
      expect(rows).toEqual([{ recipients: 2 }]);
    });
    await system.killWorker();
    isMailServerDown = false;
    await system.startWorker();
    const emailed = () => sink.mails.map(({ to }) => to).filter((to) => /^(edith|joan)@/.test(to));
    // An attempt that the kill interrupted is repeated after a minute.
    await eventually(() => expect(emailed().sort()).toEqual(['edith@example.com', 'joan@example.com']), 100_000);
  },
);

test(
  'a notification whose workflow was terminated is emailed to those who have not got it, once',
  { timeout: 120_000 },
  async () => {
    const api = await system.api();
    await disableEndpoint(api, ['mary', 'dorothy']);
    const connection = await Connection.connect({ address: config.TEMPORAL_ADDRESS });
    try {
      await eventually(async () => {
        const { rows } = await system.pool.query('SELECT id FROM notifications WHERE project_id = $1', [api.projectId]);
        await new Client({ connection }).workflow.getHandle(rows[0]?.id).terminate('The test terminates it.');
      });
    } finally {
      await connection.close();
    }
    await system.pool.query(
      `UPDATE notification_recipients SET mail_closed_at = now()
       WHERE project_id = $1 AND user_id = (SELECT id FROM users WHERE email = 'mary@example.com')`,
      [api.projectId],
    );
    isMailServerDown = false;
    const emailed = () => sink.mails.map(({ to }) => to).filter((to) => /^(mary|dorothy)@/.test(to));
    await eventually(() => expect(emailed()).toEqual(['dorothy@example.com']), 60_000);
    await eventually(async () => {
      const { rows } = await system.pool.query(
        'SELECT count(*)::int AS open FROM notification_recipients WHERE project_id = $1 AND mail_closed_at IS NULL',
        [api.projectId],
      );
      expect(rows).toEqual([{ open: 0 }]);
    });
  },
);
