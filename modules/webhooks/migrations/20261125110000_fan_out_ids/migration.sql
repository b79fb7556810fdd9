-- The deliveries of a statement share the time of their ids and are numbered: a postroom_id() for each took a quarter of the time, which
-- an import with endpoints pays for thousands of rows. 20 of the other 48 bits are the number, so that the ids keep their order, and 28
-- are random.
CREATE OR REPLACE FUNCTION fan_out_events() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  prefix CONSTANT text := left(postroom_id('dlv'), -12);
BEGIN
  INSERT INTO deliveries (id, project_id, endpoint_id, event_id)
  SELECT prefix || lpad(to_hex((row_number() OVER () << 28) + floor(random() * (1 << 28))::bigint), 12, '0'),
    wanted.project_id, wanted.endpoint_id, wanted.event_id
  FROM (
    SELECT event.project_id, endpoint.id AS endpoint_id, event.id AS event_id
    FROM new_events event
    JOIN webhook_endpoints endpoint ON endpoint.project_id = event.project_id AND endpoint.enabled
    WHERE CASE event.type
      WHEN 'webhook.test' THEN endpoint.id = event.data->>'endpoint_id'
      ELSE event.type = ANY(endpoint.events) OR '*' = ANY(endpoint.events)
    END
    ORDER BY event.id -- an endpoint gets events in the order in which they were recorded, as far as possible
    FOR KEY SHARE OF endpoint
  ) AS wanted;
  IF FOUND THEN
    PERFORM pg_notify('postroom', 'deliveries');
  END IF;
  RETURN NULL;
END $$;
