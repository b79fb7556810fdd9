import { pool } from '@postroom/platform';
import { isHere } from './sql.ts';

/** The project is being moved to another cell. The code makes it an outage, so that background work tries again later. */
class ProjectAway extends Error {
  readonly code = 'EPROJECTAWAY';
}

const READ = { name: 'projects-is-here', text: `SELECT ${isHere('$1')} AS here` };

/** Called before sending starts, so that it doesn't look for mail again and again. @throws an outage while the project is being moved. */
export async function assertHere(projectId: string): Promise<void> {
  const { rows } = await pool.query<{ here: boolean }>({ ...READ, values: [projectId] });
  if (rows[0]?.here === false) throw new ProjectAway(`The project ${projectId} is being moved to another cell.`);
}
