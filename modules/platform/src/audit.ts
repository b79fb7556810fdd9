import { databaseNow } from '@postroom/clock';
import { config } from '@postroom/settings/config';
import type { AuditChange } from './audit-changes.ts';
import { deleteInBatches, type RetentionOptions, sql } from './db.ts';
import type { Tx } from './transaction-observer.ts';
import { idsFrom, newId } from './ids.ts';

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

/** Maximum rows deleted per statement. */
const BATCH = 1_000;

/** Deletes audit entries past their retention. Ids begin with the time, so they select by age. */
export async function deleteOldAuditEntries({
  days = config.AUDIT_RETENTION_DAYS,
  now = databaseNow(),
  onBatch = () => {},
}: RetentionOptions = {}): Promise<number> {
  if (days === undefined) return 0;
  return deleteInBatches(
    `DELETE FROM audit_entries WHERE id IN (SELECT id FROM audit_entries WHERE id < $1 ORDER BY id LIMIT ${BATCH})`,
    [idsFrom('aud', new Date(now - days * 86_400_000))],
    { batch: BATCH, onBatch },
  );
}
