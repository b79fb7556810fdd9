import { type Tx, sql } from './db.ts';
import { newId } from './ids.ts';

export interface AuditEntry {
  projectId: string | null;
  /** `usr_…` or `key_…`. */
  actorId: string;
  /** The mutation's name. */
  action: string;
  targetId?: string | undefined;
  /** Additional context; never a secret. */
  details?: Record<string, unknown>;
}

/** Records who changed what. */
export async function audit(tx: Tx, { projectId, actorId, action, targetId, details = {} }: AuditEntry): Promise<void> {
  await sql(
    tx,
    'INSERT INTO audit_entries (id, project_id, actor_id, action, target_id, details) VALUES ($1, $2, $3, $4, $5, $6::jsonb)',
    [newId('aud'), projectId, actorId, action, targetId ?? null, JSON.stringify(details)],
  );
}
