import { inTransaction, newId, pool } from '@postroom/platform';
import { createEndpoint } from '../src/endpoints.ts';

/** A new project's endpoint with this many waiting deliveries. */
export async function backlog(
  url: string,
  { enabled, waiting }: { enabled: boolean; waiting: number },
): Promise<string> {
  const projectId = newId('prj');
  await pool.query(`INSERT INTO projects (id, name) VALUES ($1, 'Test')`, [projectId]);
  const { id } = await createEndpoint(projectId, { url, events: ['*'] });
  await inTransaction(async (tx) => {
    await tx.query(
      `INSERT INTO events (id, project_id, type, data)
       SELECT postroom_id('evt'), $1, 'email.sent', '{}' FROM generate_series(1, $2)`,
      [projectId, waiting],
    );
    await tx.query('UPDATE webhook_endpoints SET enabled = $2 WHERE id = $1', [id, enabled]);
  });
  return id;
}
