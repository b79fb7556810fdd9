/** SQL of custom events that other modules run. This file imports nothing. */

/** How late an event may be recorded: partitions before that hold none that was received recently. */
const LATE = `interval '31 days'`;

/**
 * Events of contacts that were received after a time. Parameters: the project, and arrays of a number that the rows return as
 * `place`, the contact, the name, the time, and whether events received at that very time are left out.
 */
export const EVENTS_RECEIVED_SINCE = `
  SELECT n.place, e.properties FROM unnest($2::int[], $3::text[], $4::text[], $5::timestamptz[], $6::bool[])
    AS n(place, contact_id, name, since, is_after)
  JOIN LATERAL (
    SELECT properties FROM custom_events e WHERE e.project_id = $1 AND e.contact_id = n.contact_id
      AND e.occurred_at >= n.since - ${LATE} AND e.name = n.name AND e.received_at >= n.since AND NOT (n.is_after AND e.received_at = n.since)
     ORDER BY e.occurred_at DESC LIMIT 20
  ) AS e ON true`;

/** The values that a project declared for events without a property, of the names in `$2`. */
export const DECLARED_DEFAULTS = `
  SELECT d.name AS event, p.name, p.default_value AS value FROM custom_event_definitions d
  JOIN custom_event_properties p ON p.definition_id = d.id
  WHERE d.project_id = $1 AND d.name = ANY ($2) AND p.default_value IS NOT NULL`;
