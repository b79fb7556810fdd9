import { closeDatabase, newId, pool } from '@postroom/platform';
import { createApiKey, createProject } from '@postroom/projects';

/** One kind of request and its expected status. */
export interface Target {
  title: string;
  method: 'GET' | 'POST';
  status: number;
  /** The path and the body of the next request. */
  next: () => { path: string; body?: string };
}

export interface Sample {
  key: string;
  targets: Target[];
}

const CONTACTS = 10_000;

/** A project with contacts, a sending domain and a key, in the database that DATABASE_URL names, and the requests to it. */
export async function makeSample(): Promise<Sample> {
  const { id: projectId } = await createProject('Facade');
  const { key } = await createApiKey({ name: 'bench', scope: 'full', projects: [projectId] });
  const ids = Array.from({ length: CONTACTS }, () => newId('ctc'));
  await pool.query(
    `INSERT INTO contacts (id, project_id, email, email_key, name, source, custom_fields, created_at, updated_at)
     SELECT id, $1, 'contact.' || n || '@example.com', 'contact.' || n || '@example.com', 'Contact ' || n, 'api',
       '{"plan": "pro", "score": 12}', now(), now() FROM unnest($2::text[]) WITH ORDINALITY AS c(id, n)`,
    [projectId, ids],
  );
  await pool.query(
    `INSERT INTO domains (id, project_id, domain, verified_for_sending, verification, dkim, mail_from, dmarc, updated_at)
     VALUES ($1, $2, 'example.com', true, 'verified', 'verified', 'verified', 'verified', now())`,
    [newId('dom'), projectId],
  );
  await pool.query('ANALYZE');
  await closeDatabase();
  return { key, targets: targets(ids) };
}

function targets(ids: readonly string[]): Target[] {
  let count = 0;
  const contact = () => ids[(count = (count + 7919) % ids.length)];
  return [
    {
      title: 'GET /v1/contacts/{id}',
      method: 'GET',
      status: 200,
      next: () => ({ path: `/v1/contacts/${contact()}` }),
    },
    {
      title: 'GET /v1/contacts?limit=100',
      method: 'GET',
      status: 200,
      next: () => ({ path: '/v1/contacts?limit=100' }),
    },
    {
      title: 'POST /v1/contacts',
      method: 'POST',
      status: 201,
      next: () => ({
        path: '/v1/contacts',
        body: JSON.stringify({ email: `ada.${newId('ctc')}@example.com`, name: 'Ada Lovelace' }),
      }),
    },
    {
      title: 'POST /v1/emails',
      method: 'POST',
      status: 202,
      next: () => ({
        path: '/v1/emails',
        body: JSON.stringify({
          from: 'Acme <hello@example.com>',
          to: ['ada@example.net'],
          subject: 'Your receipt',
          html: '<p>Thank you, Ada.</p>',
          metadata: { order: '1843' },
        }),
      }),
    },
  ];
}
