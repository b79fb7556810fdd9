import { isDeleted } from '@postroom/projects/sql';
import type pg from 'pg';
import { deleteProjectRows } from './delete-rows.ts';
import { drain } from './drain.ts';
import { fence, removeFence } from './fence.ts';
import { readProjectTables } from './tables.ts';
import { takeProject } from './take-project.ts';

export interface Deletion {
  client: pg.ClientBase;
  projectId: string;
  /** How long to wait for work in flight, in milliseconds. */
  drainMs: number;
  /** Called after each step; the next one waits for it. */
  report: (step: string) => void | Promise<void>;
}

/** The project can't be deleted now. */
export class DeletionRefused extends Error {}

/**
 * Deletes the rows of a project that is marked as deleted: its requests are refused and nothing new is sent. The rows are deleted once
 * nothing is in flight. Can be killed at any moment, and continues when it is called again.
 * @throws DeletionRefused, or an error of the database, after which it can be called again.
 */
export async function deleteProject({ client, projectId, drainMs, report }: Deletion): Promise<void> {
  const problem = await takeProject(client, projectId);
  if (problem !== undefined) throw new DeletionRefused(problem);
  const { rows } = await client.query<{ requested: boolean }>(`SELECT ${isDeleted('$1')} AS requested`, [projectId]);
  if (rows[0]?.requested !== true) throw new DeletionRefused('The deletion of this project was not requested.');
  await report('Took the project.');
  const tables = await readProjectTables(client);
  const left = await drain(client, projectId, drainMs);
  if (left !== undefined) throw new DeletionRefused(`Still in flight: ${left}.`);
  await report('Nothing is in flight.');
  await deleteProjectRows(
    client,
    projectId,
    tables.filter(({ name }) => name !== 'projects'),
  );
  await report('The rows are deleted.');
  // The fence makes other projects' changes slower, so it is closed only to delete what work that was under way has left.
  await fence(client, projectId, tables);
  await report('The fence is closed.');
  await deleteProjectRows(client, projectId, tables);
  await report('The project is deleted.');
  await removeFence(client, projectId, tables);
  await report('The fence is removed.');
}
