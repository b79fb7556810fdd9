import { pool, secretColumn } from '@postroom/platform';
import { newSigningSecret } from '@postroom/guarded-client';

const column = secretColumn('journey_signing_secrets', 'secret', { boundTo: ['project_id'] });

/** The secret that signs the calls of a project's journeys; created when it is first needed. */
export async function signingSecretOf(projectId: string): Promise<string> {
  const { rows } = await pool.query<{ secret: string }>(
    `WITH added AS (
       INSERT INTO journey_signing_secrets (project_id, secret) VALUES ($1, $2) ON CONFLICT (project_id) DO NOTHING RETURNING secret
     ) SELECT secret FROM journey_signing_secrets WHERE project_id = $1 UNION ALL SELECT secret FROM added`,
    [projectId, column.encrypt(newSigningSecret(), projectId)],
  );
  // Another process has just created it.
  return rows[0] === undefined ? signingSecretOf(projectId) : column.decrypt(rows[0].secret, projectId);
}

/** Replaces the secret, from the next call on. @returns the new one. */
export async function rotateSigningSecret(projectId: string): Promise<string> {
  const secret = newSigningSecret();
  await pool.query(
    `INSERT INTO journey_signing_secrets (project_id, secret) VALUES ($1, $2)
     ON CONFLICT (project_id) DO UPDATE SET secret = excluded.secret`,
    [projectId, column.encrypt(secret, projectId)],
  );
  return secret;
}
