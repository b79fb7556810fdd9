/** Which projects are here, as SQL for modules that select work in the same statement. This file imports nothing. */

/** A parameter, or a column with its table: without it, `project_id` would be the column of the subqueries below. */
type ProjectId = `$${number}` | `${string}.${string}`;

/** Whether a project is in this cell, and neither being moved to another one nor deleted. @param projectId SQL of its id. */
export const isHere = (projectId: ProjectId): string =>
  `NOT EXISTS (SELECT FROM project_cells v WHERE v.project_id = ${projectId} AND v.state <> 'here')`;

/** Whether a project is being deleted, or was. @param projectId SQL of its id. */
export const isDeleted = (projectId: ProjectId): string =>
  `EXISTS (SELECT FROM project_cells v WHERE v.project_id = ${projectId} AND v.state = 'deleted')`;

/** Whether a project was moved to another cell, though its rows may not be deleted yet. @param projectId SQL of its id. */
export const hasMoved = (projectId: ProjectId): string =>
  `EXISTS (SELECT FROM project_cells v WHERE v.project_id = ${projectId} AND v.state = 'moved')`;
