/** Which projects are here, as SQL for modules that select work in the same statement. This file imports nothing. */

/** Whether a project is in this cell, and neither being moved to another one nor deleted. @param projectId SQL of its id. */
export const isHere = (projectId: string): string =>
  `NOT EXISTS (SELECT FROM project_cells v WHERE v.project_id = ${projectId} AND v.state <> 'here')`;

/** Whether a project is being deleted, or was. @param projectId SQL of its id. */
export const isDeleted = (projectId: string): string =>
  `EXISTS (SELECT FROM project_cells v WHERE v.project_id = ${projectId} AND v.state = 'deleted')`;

/** Whether a project was moved to another cell, though its rows may not be deleted yet. @param projectId SQL of its id. */
export const hasMoved = (projectId: string): string =>
  `EXISTS (SELECT FROM project_cells v WHERE v.project_id = ${projectId} AND v.state = 'moved')`;
