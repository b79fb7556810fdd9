/** SQL of journeys that other modules compose. This file imports nothing, so that modules below journeys may use it. */

/** Whether a contact is in any of the journeys now; probes the unique index on open runs. */
export const isInAnyJourney = (contact: string, journeys: string): string =>
  `EXISTS (SELECT FROM enrollments r WHERE r.contact_id = ${contact} AND r.journey_id = ANY (${journeys}::text[]) AND r.ended_at IS NULL)`;

/** Whether a contact is or was in any of the journeys, as far as their runs are kept. */
export const wasInAnyJourney = (contact: string, journeys: string): string =>
  `EXISTS (SELECT FROM enrollments r WHERE r.contact_id = ${contact} AND r.journey_id = ANY (${journeys}::text[]))`;

/** The messages that journeys have sent to contacts, as far as their runs are kept: `message_id`, `journey_id` and the journey's `name`. */
export const messagesOfJourneys = (contacts: string): string =>
  `SELECT s.message_id, j.id AS journey_id, j.name
   FROM enrollments r JOIN enrollment_steps s ON s.enrollment_id = r.id JOIN journeys j ON j.id = r.journey_id
   WHERE r.contact_id = ANY (${contacts}::text[]) AND s.message_id IS NOT NULL`;

/** The projects of the journeys with the ids in `$1`. */
export const PROJECTS_OF_JOURNEYS = 'SELECT id, project_id AS "projectId" FROM journeys WHERE id = ANY ($1)';
