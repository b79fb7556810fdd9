/**
 * Whether an enabled endpoint of the project `$1` subscribes to the event type `$2`. For events that are too many to record
 * unless an endpoint wants them.
 */
export const IS_SUBSCRIBED = `EXISTS (SELECT FROM webhook_endpoints w WHERE w.project_id = $1 AND w.enabled AND w.events && ARRAY['*', $2])`;
