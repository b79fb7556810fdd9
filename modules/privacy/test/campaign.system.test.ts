import { eventually, mailSystem, OWNER } from '@postroom/testkit';
import { expect, test } from 'vitest';

const { system, sink } = await mailSystem();

test(
  'a contact erased during a campaign gets no more mail and stays anonymous, and the campaign completes with correct counts',
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

    // Claimed messages await a reply, which names the recipient.
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
      const { data } = await asOwner(
        api.projectId,
        `mutation { erasePerson(contactId: "${person?.id}") { messages canceled } }`,
      );
      expect(data.erasePerson).toEqual({ messages: 1, canceled: person === planned ? 1 : 0 });
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

/** Runs an operation as the owner of the installation, who is made an owner of the project first. */
async function asOwner(projectId: string, query: string) {
  await system.pool.query(
    `INSERT INTO members (project_id, user_id, role) SELECT $1, id, 'owner' FROM users WHERE email = $2 ON CONFLICT DO NOTHING`,
    [projectId, OWNER.email],
  );
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(system.url + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: system.url, ...headers },
      body: JSON.stringify(body),
    });
  const signedIn = await post('/app/auth/sign-in/email', OWNER);
  const cookie = signedIn.headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0])
    .join('; ');
  const answer = await post('/graphql', { query }, { cookie, 'X-Project-Id': projectId });
  // Tests check the shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  return (await answer.json()) as any;
}
