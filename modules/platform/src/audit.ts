import type { AuditChange } from './audit-changes.ts';
import { sql } from './db.ts';
import type { Tx } from './transaction-observer.ts';
import { newId } from './ids.ts';

export interface AuditEntry {
  projectId: string | null;
  /** `usr_…` or `key_…`. */
  actorId: string;
  /** The mutation's name. */
  action: string;
  targetId?: string | undefined;
  /** What the target was called. */
  targetName?: string | null | undefined;
  /** What an update changed; never a secret. */
  changes?: readonly AuditChange[] | undefined;
  /** Additional context; never a secret. */
  details?: Record<string, unknown>;
}

/** Records who changed what. */
export async function audit(tx: Tx, entry: AuditEntry): Promise<void> {
  const { projectId, actorId, action, targetId, targetName, changes = [], details = {} } = entry;
  await sql(
    tx,
    `INSERT INTO audit_entries (id, project_id, actor_id, action, target_id, target_name, changes, details)
     VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8::jsonb)`,
    [
      newId('aud'),
      projectId,
      actorId,
      action,
      targetId ?? null,
      targetName ?? null,
      JSON.stringify(changes),
      JSON.stringify(details),
    ],
  );
}
