import { newId } from '@postroom/platform';
import type pg from 'pg';
import type { SystemApi } from './system.ts';

/** Adds a group of new contacts, `<name>1@mail.test` and so on, by one statement. @returns its id. */
export async function addGroup(
  pool: pg.Pool,
  { projectId }: Pick<SystemApi, 'projectId'>,
  { name, contacts }: { name: string; contacts: number },
): Promise<string> {
  const group = newId('grp');
  await pool.query(
    `WITH contact AS (
       INSERT INTO contacts (id, project_id, email, email_key, name, source)
       SELECT postroom_id('ctc'), $1, a, a, 'Reader', 'api'
       FROM generate_series(1, $2::int) i CROSS JOIN LATERAL (SELECT $3 || i || '@mail.test' AS a) AS address RETURNING id
     ), made AS (INSERT INTO groups (id, project_id, name) VALUES ($4, $1, $3))
     INSERT INTO group_members (group_id, contact_id) SELECT $4, id FROM contact`,
    [projectId, contacts, name, group],
  );
  return group;
}

/** Adds a campaign to new contacts whose addresses begin with its name. @returns its id. */
export async function addCampaign(
  pool: pg.Pool,
  api: Pick<SystemApi, 'projectId' | 'post'>,
  { name, recipients, ...more }: { name: string; recipients: number; html?: string; rate_per_second?: number },
): Promise<string> {
  const group = await addGroup(pool, api, { name, contacts: recipients });
  const { body } = await api.post('/v1/campaigns', {
    name,
    subject: 'News',
    from_email: 'news@example.com',
    html: '<p>Hello</p>',
    group_ids: [group],
    ...more,
  });
  return body.data.id;
}
