import { TAKE_MOVER_LOCK } from '@postroom/projects/cells';
import type pg from 'pg';
import { findMissingGrant } from './skip-triggers.ts';

/** Takes the lock of the project's mover for this session. @returns why the project can't be moved or deleted by it; undefined if it can. */
export async function takeProject(client: pg.ClientBase, projectId: string): Promise<string | undefined> {
  const { rows } = await client.query<{ locked: boolean }>(TAKE_MOVER_LOCK, [projectId]);
  if (rows[0]?.locked !== true) return 'Another process is moving or deleting this project.';
  return findMissingGrant(client);
}
