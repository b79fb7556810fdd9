/** SQL of groups that other modules compose. This file imports nothing, so that modules below groups may use it. */

/** The members of a group, one `contact_id` each; reads the primary key `(group_id, contact_id)`. */
export const membersOf = (group: string): string => `(SELECT contact_id FROM group_members WHERE group_id = ${group})`;

/** Whether a contact is in any of the groups; probes the index on `contact_id`. */
export const isMemberOfAny = (contact: string, groups: string): string =>
  `EXISTS (SELECT FROM group_members g WHERE g.contact_id = ${contact} AND g.group_id = ANY (${groups}::text[]))`;

/** Those of the ids in `$2` that are groups of the project `$1`. */
export const EXISTING_GROUPS = 'SELECT id FROM groups WHERE project_id = $1 AND id = ANY ($2)';

/** The projects of the groups with the ids in `$1`. */
export const PROJECTS_OF_GROUPS = 'SELECT id, project_id AS "projectId" FROM groups WHERE id = ANY ($1)';
