import { randomUUID } from 'node:crypto';
import { countOf } from '@postroom/errors';
import { config } from '@postroom/platform';
import type pg from 'pg';
import { deleteProjectRows } from './delete-rows.ts';
import { drain } from './drain.ts';
import { fence, removeFence } from './fence.ts';
import { readProjectTables } from './tables.ts';
import { takeProject } from './take-project.ts';

export interface Deletion {
  client: pg.ClientBase;
  projectId: string;
  /** The project's name, which confirms that this is the one; undefined to see what would be deleted. */
  name: string | undefined;
  /** How long to wait for work in flight, in milliseconds. */
  drainMs: number;
  /** Called after each step; the next one waits for it. */
  report: (step: string) => void | Promise<void>;
  endWorkflows: () => Promise<void>;
}

/** The project can't be deleted, or not now. */
export class DeletionRefused extends Error {}

/**
 * Deletes a project with all its rows. Requests for it are refused and nothing new is sent from the beginning; the rows are deleted once
 * nothing is in flight. Can be killed at any moment, and continues when it is called again.
 * @throws DeletionRefused, or an error of the database, after which it can be called again.
 */
export async function deleteProject(deletion: Deletion): Promise<void> {
  const { client, projectId, drainMs, report } = deletion;
  const problem = await takeProject(client, projectId);
  if (problem !== undefined) throw new DeletionRefused(problem);
  const tables = await readProjectTables(client);
  await begin(deletion);
  const left = await drain(client, projectId, drainMs);
  if (left !== undefined)
    throw new DeletionRefused(`Still in flight: ${left}. Run the command again, with the workers running.`);
  await report('Nothing is in flight.');
  await fence(client, projectId, tables);
  await report('The fence is closed.');
  await deleteProjectRows(client, projectId, tables);
  await removeFence(client, projectId, tables);
  await report('The rows are deleted.');
  await deletion.endWorkflows();
}

const FIND = `
  SELECT p.name, c.state, c.cell FROM (SELECT $1::text AS id) AS asked
  LEFT JOIN projects p ON p.id = asked.id LEFT JOIN project_cells c ON c.project_id = asked.id`;

/** Refuses requests for the project from now on. @throws DeletionRefused unless it is here, and has the name. */
async function begin({ client, projectId, name, report }: Deletion): Promise<void> {
  const { rows } = await client.query<{ name: string | null; state: string | null; cell: string | null }>(FIND, [
    projectId,
  ]);
  const found = rows[0];
  if (found?.state === 'deleted') return;
  if (found?.state === 'moved') throw new DeletionRefused(`The project is in ${found.cell}: run the command there.`);
  if (found?.state === 'moving')
    throw new DeletionRefused(`The project is being moved to ${found.cell}: finish that move, or abort it.`);
  if (found === undefined || found.name === null) throw new DeletionRefused('There is no such project here.');
  if (found.name !== name) throw new DeletionRefused(await describe(client, projectId, found.name, name));
  await client.query(
    `INSERT INTO project_cells (project_id, cell, state, move_id) VALUES ($1, $2, 'deleted', $3)
     ON CONFLICT (project_id) DO UPDATE SET state = excluded.state, move_id = excluded.move_id, changed_at = now()`,
    [projectId, config.CELL ?? '', randomUUID()],
  );
  // Streams check whether they may continue, and end.
  await client.query(`SELECT pg_notify('postroom', 'access *')`);
  await report('Requests are answered 503, and nothing new is sent.');
}

async function describe(client: pg.ClientBase, projectId: string, name: string, given: string | undefined) {
  if (given !== undefined) return `The project is not called "${given}": it is "${name}".`;
  const { rows } = await client.query<{ contacts: string; campaigns: string }>(
    `SELECT (SELECT count(*) FROM contacts WHERE project_id = $1) AS contacts,
       (SELECT count(*) FROM campaigns WHERE project_id = $1) AS campaigns`,
    [projectId],
  );
  const { contacts, campaigns } = rows[0] as { contacts: string; campaigns: string };
  return `"${name}" has ${countOf(Number(contacts), 'contact')} and ${countOf(Number(campaigns), 'campaign')}. To delete the project with everything in it for good, repeat its name: --name "${name}"`;
}
