import type pg from 'pg';

/**
 * Runs no triggers and checks no foreign keys until the end of the transaction, so rows stay as the triggers have left them when they were
 * written. The fence does not apply either. The owner of the database may do so after GRANT SET ON PARAMETER session_replication_role.
 */
export async function skipTriggers(client: pg.ClientBase): Promise<void> {
  await client.query('SET LOCAL session_replication_role = replica');
}

/** @returns why the role of this session may not do so; undefined if it may. */
export async function findMissingGrant(client: pg.ClientBase): Promise<string | undefined> {
  const { rows } = await client.query<{ may: boolean; role: string; database: string }>(
    `SELECT has_parameter_privilege('session_replication_role', 'SET') AS may, current_user AS role, current_database() AS database`,
  );
  const { may, role, database } = rows[0] as { may: boolean; role: string; database: string };
  if (may) return undefined;
  return `The role ${role} may not skip triggers in ${database}. As a superuser: GRANT SET ON PARAMETER session_replication_role TO ${role}`;
}
