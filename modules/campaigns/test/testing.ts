import { eventually, type SmtpSink, type System, type SystemApi } from '@postroom/testkit';
import { expect } from 'vitest';

export { readyCampaign } from './ready-campaign.ts';

/** Helpers for sending tests: campaigns in an isolated system, and their outcomes. */
export function campaignKit(parts: () => { system: System; sink: SmtpSink }) {
  /** Creates a campaign to `count` new contacts of a new project; their addresses start with `word`. */
  async function campaignTo(word: string, count: number, more: Record<string, unknown> = {}) {
    const { system } = parts();
    const api = await system.api();
    const contacts = Array.from({ length: count }, (_, index) => ({
      email: `${word}${index}@mail.test`,
      name: `Reader ${index}`,
    }));
    for (let at = 0; at < count; at += 500) {
      const reply = await api.post('/v1/contacts/batch', { contacts: contacts.slice(at, at + 500) });
      expect(reply.status, JSON.stringify(reply.body).slice(0, 300)).toBeLessThan(300);
    }
    const { rows } = await system.pool.query<{ id: string }>(
      'SELECT id FROM contacts WHERE project_id = $1 ORDER BY id',
      [api.projectId],
    );
    const group = (await api.post('/v1/groups', { name: 'All', contact_ids: rows.map(({ id }) => id) })).body.data;
    const another = async (others: Record<string, unknown> = {}) => {
      const reply = await api.post('/v1/campaigns', {
        name: word,
        subject: 'News for {{name|you}}',
        from_email: 'news@example.com',
        html: '<p>Hello {{name|there}}</p>',
        group_ids: [group.id],
        ...more,
        ...others,
      });
      expect(reply.status, JSON.stringify(reply.body)).toBe(201);
      return { id: reply.body.data.id as string, path: `/v1/campaigns/${reply.body.data.id}` };
    };
    return { api, group, another, ...(await another()) };
  }

  const read = async (api: SystemApi, path: string) => (await api.get(path)).body.data;

  const untilStatus = (api: SystemApi, path: string, status: string, timeoutMs = 60_000) =>
    eventually(async () => {
      const campaign = await read(api, path);
      expect(campaign.status).toBe(status);
      return campaign;
    }, timeoutMs);

  async function eventsOf(api: SystemApi, type: string): Promise<Record<string, unknown>[]> {
    const { rows } = await parts().system.pool.query<{ data: Record<string, unknown> }>(
      'SELECT data FROM events WHERE project_id = $1 AND type = $2 ORDER BY id',
      [api.projectId, type],
    );
    return rows.map(({ data }) => data);
  }

  /** Checks a campaign's counters against its rows. */
  async function expectCountersToAgree(api: SystemApi, path: string): Promise<void> {
    const { progress, engagement, id } = await read(api, path);
    const { pool } = parts().system;
    const { rows } = await pool.query<{ state: string; count: number }>(
      'SELECT state, count(*)::int AS count FROM messages WHERE campaign_id = $1 GROUP BY state',
      [id],
    );
    const counted = Object.fromEntries(rows.map(({ state, count }) => [state, count]));
    expect(Object.fromEntries(Object.entries(progress).filter(([, count]) => count !== 0))).toEqual(counted);
    const facts = await pool.query(
      `SELECT count(*) FILTER (WHERE state = 'accepted')::int AS sent, count(delivered_at)::int AS delivered,
         count(opened_at)::int AS opened, count(clicked_at)::int AS clicked, count(bounced_at)::int AS bounced,
         count(rejected_at)::int AS rejected,
         count(complained_at)::int AS complained, count(unsubscribed_at)::int AS unsubscribed
       FROM messages WHERE campaign_id = $1`,
      [id],
    );
    expect(engagement).toMatchObject(facts.rows[0] ?? {});
  }

  const taken = (word: string) => [...parts().sink.counts()].filter(([to]) => to.startsWith(word));

  /** A campaign's recipients in one state. */
  const recipients = async (api: SystemApi, path: string, state: string) =>
    (await api.get(`${path}/recipients?state=${state}&limit=1000`)).body.data as { id: string; email: string }[];

  return { campaignTo, read, untilStatus, eventsOf, expectCountersToAgree, taken, recipients };
}
