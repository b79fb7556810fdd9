import { addLocalDomain } from '@postroom/domains';
import { pool } from '@postroom/platform';
import { type Api, testApi } from '@postroom/testkit';
import { expect } from 'vitest';

export const CAMPAIGN = { name: 'News', subject: 'News', from_email: 'news@example.com', html: '<p>Hello</p>' };

/** A project with a verified domain and a group of that many contacts. */
export async function projectWith(contacts: number) {
  const api = await testApi();
  await addLocalDomain(api.projectId, 'example.com');
  const group = await groupOf(api, contacts);
  const campaign = await created(api, '/v1/campaigns', { ...CAMPAIGN, group_ids: [group] });
  return { api, group, campaign: campaign.id as string };
}

async function groupOf(api: Api, contacts: number): Promise<string> {
  const { id } = await created(api, '/v1/contacts', { email: 'first@mail.test' });
  const group = await created(api, '/v1/groups', { name: 'Readers', contact_ids: [id] });
  await pool.query(
    `WITH contact AS (
       INSERT INTO contacts (id, project_id, email, email_key, name, source, updated_at)
       SELECT postroom_id('ctc'), $1, 'c' || i || '@mail.test', 'c' || i || '@mail.test', 'Reader', 'api', now()
       FROM generate_series(2, $3) i RETURNING id
     ) INSERT INTO group_members (group_id, contact_id) SELECT $2, id FROM contact`,
    [api.projectId, group.id, contacts],
  );
  return group.id;
}

export async function created(api: Pick<Api, 'post'>, path: string, body: object) {
  const reply = await api.post(path, body);
  expect(reply.status, JSON.stringify(reply.body)).toBe(201);
  return reply.body.data;
}

/** The fields that a reply names. */
export const fieldsOf = ({ body }: { body: { error?: { details?: { field: string }[] } } }) =>
  body.error?.details?.map(({ field }) => field);
