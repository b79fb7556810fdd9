import { pool, requireReadable, secretColumn } from '@postroom/platform';
import { newSigningSecret } from '@postroom/guarded-client';

const column = secretColumn('journey_signing_secrets', 'secret', { boundTo: ['project_id'] });

/** The secret that signs the calls of a project's journeys; created when it is first needed. */
export const signingSecretOf = async (projectId: string): Promise<string> =>
  column.decrypt(await storedSecret(projectId), projectId);

/** The same for signed-in users. @throws DomainError `conflict` if its encryption key is lost. */
export async function revealSigningSecret(projectId: string): Promise<string> {
  const stored = await storedSecret(projectId);
  return requireReadable(() => column.decrypt(stored, projectId), 'Rotate it to get a new one.');
}

async function storedSecret(projectId: string): Promise<string> {
  const { rows } = await pool.query<{ secret: string }>(
    `WITH added AS (
       INSERT INTO journey_signing_secrets (project_id, secret) VALUES ($1, $2) ON CONFLICT (project_id) DO NOTHING RETURNING secret
     ) SELECT secret FROM journey_signing_secrets WHERE project_id = $1 UNION ALL SELECT secret FROM added`,
    [projectId, column.encrypt(newSigningSecret(), projectId)],
  );
  // Another process has just created it.
  const [row] = rows;
  return row === undefined ? storedSecret(projectId) : row.secret;
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
