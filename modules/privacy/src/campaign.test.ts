import { eventually, type SmtpSink, startSmtpSink, startSystem, type System } from '@postroom/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

let sink: SmtpSink;
let system: System;

beforeAll(async () => {
  sink = await startSmtpSink();
  system = await startSystem({ smtpUrl: sink.url });
  await system.startWorker();
}, 120_000);

afterAll(async () => {
  await system.stop();
  await sink.close();
});

test(
  'who is erased while a campaign is under way is not mailed any more, stays nameless, and the campaign completes with the right counts',
  {
    timeout: 120_000,
  },
  async () => {
    const api = await system.api();
    const contacts = Array.from({ length: 300 }, (_, index) => ({
      email: `under${index}@mail.test`,
      name: 'Lovelace',
    }));
    await api.post('/v1/contacts/batch', { contacts });
    const { rows } = await system.pool.query<{ id: string; email: string }>(
      'SELECT id, email FROM contacts WHERE project_id = $1 ORDER BY id',
      [api.projectId],
    );
    const group = (await api.post('/v1/groups', { name: 'All', contact_ids: rows.map(({ id }) => id) })).body.data;
    const campaign = (
      await api.post('/v1/campaigns', {
        name: 'News',
        subject: 'News for {{name}}',
        from_email: 'news@example.com',
        html: '<p>Hello {{name}}</p>',
        group_ids: [group.id],
      })
    ).body.data;
    const path = `/v1/campaigns/${campaign.id}`;

    // What is claimed waits for its answer, which names the recipient.
    const held = Promise.withResolvers<void>();
    sink.answer(async (to) => {
      await held.promise;
      return to === inFlight?.email ? { code: 550, message: `5.1.1 There is no ${to}` } : undefined;
    });
    let inFlight: { id: string; email: string } | undefined;
    expect((await api.post(`${path}/send`)).status).toBe(202);
    const ofState = async (state: string) =>
      (
        await system.pool.query<{ id: string; email: string }>(
          `SELECT contact_id AS id, email FROM messages WHERE campaign_id = $1 AND state = $2::message_state ORDER BY id DESC LIMIT 1`,
          [campaign.id, state],
        )
      ).rows[0];
    const [claimed, planned] = await eventually(async () => {
      const found = [await ofState('claimed'), await ofState('planned')] as const;
      expect(found).toEqual([expect.anything(), expect.anything()]);
      return found;
    });
    inFlight = claimed;
    for (const person of [claimed, planned]) {
      const { status, body } = await api.post(`/v1/contacts/${person?.id}/erase`);
      expect([status, body.data]).toMatchObject([200, { messages: 1, canceled: person === planned ? 1 : 0 }]);
    }
    held.resolve();
    const done = await eventually(async () => {
      const { data } = (await api.get(path)).body;
      expect(data.status).toBe('completed');
      return data;
    }, 60_000);

    expect(done.progress).toMatchObject({ accepted: 298, failed: 1, suppressed: 1, planned: 0, claimed: 0 });
    expect(sink.counts().has(planned?.email ?? '')).toBe(false);
    for (const person of [claimed, planned]) {
      const { rows: left } = await system.pool.query(
        `SELECT 'message' AS table FROM messages m WHERE project_id = $1 AND position($2 IN m::text) > 0
       UNION ALL SELECT 'event' FROM events WHERE project_id = $1 AND (position($2 IN data::text) > 0
         OR data->>'contact_id' = $3 AND position('Lovelace' IN data::text) > 0)`,
        [api.projectId, person?.email, person?.id],
      );
      expect(left).toEqual([]);
    }
  },
);
