-- Partitions of events, deliveries and attempts, by the time in their ids: see docs/decisions/partitions.md.
--
-- A partitioned table T always has the partitions T_past, from the beginning, and T_rest, to the end, so that every row has one.
-- Between them are those of weeks or months, T_20261123. They have explicit bounds instead of a default partition, with which
-- PostgreSQL could not read partitions in order, and would open all of them for each page of a list.

-- All waits together are shorter than the second after which PostgreSQL looks for deadlocks and ends a transaction: a replay locks
-- deliveries before events, for example. The migration gives way and is tried again instead. The first two are those that the
-- foreign keys refer to.
SET LOCAL lock_timeout = '150ms';
LOCK TABLE projects, webhook_endpoints, events, deliveries, attempts IN ACCESS EXCLUSIVE MODE;

CREATE FUNCTION list_partitions(parent text) RETURNS TABLE (name text, lower_bound text, upper_bound text) LANGUAGE sql STABLE AS $$
  SELECT c.relname::text, substring(b.bound FROM $re$FROM \('([^']*)'\)$re$), substring(b.bound FROM $re$TO \('([^']*)'\)$re$)
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid CROSS JOIN LATERAL pg_get_expr(c.relpartbound, c.oid) AS b(bound)
   WHERE i.inhparent = parent::regclass ORDER BY 2 NULLS FIRST
$$;

-- The column that a table is partitioned by.
CREATE FUNCTION partition_key(parent text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT a.attname::text FROM pg_partitioned_table p JOIN pg_attribute a ON a.attrelid = p.partrelid AND a.attnum = p.partattrs[0]
   WHERE p.partrelid = parent::regclass
$$;

-- Makes a table with the columns, defaults and storage options that the partitions of another have.
CREATE FUNCTION create_partition(parent text, child text, template text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  options text := (SELECT array_to_string(reloptions, ', ') FROM pg_class WHERE oid = template::regclass);
BEGIN
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS)', child, parent);
  IF options <> '' THEN EXECUTE format('ALTER TABLE %I SET (%s)', child, options); END IF;
END $$;

-- Adds partitions before T_rest until it begins later than `ahead` from now. Rows that it holds already move to the new ones.
CREATE FUNCTION extend_partitions(parent text, prefix text, length interval, ahead interval) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  rest text := parent || '_rest';
  unit text := CASE WHEN length < interval '28 days' THEN 'week' ELSE 'month' END;
  bound text;
  upper_bound text;
  starts timestamptz;
  child text;
  added int := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('partitions of ' || parent, 3));
  LOOP
    SELECT lower_bound INTO STRICT bound FROM list_partitions(parent) WHERE name = rest;
    starts := partition_bound_time(prefix, bound);
    EXIT WHEN starts >= now() + ahead;
    child := parent || to_char(starts AT TIME ZONE 'UTC', '_YYYYMMDD');
    -- To the next Monday, or the first of a month, although the length may have changed since the last one.
    upper_bound := partition_bound(prefix, (date_trunc(unit, starts AT TIME ZONE 'UTC' + length)) AT TIME ZONE 'UTC');
    PERFORM create_partition(parent, child, rest);
    EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', parent, rest);
    EXECUTE format('WITH moved AS (DELETE FROM %I WHERE %I < %L RETURNING *) INSERT INTO %I SELECT * FROM moved',
      rest, partition_key(parent), upper_bound, child);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, child, bound, upper_bound);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (MAXVALUE)', parent, rest, upper_bound);
    added := added + 1;
  END LOOP;
  RETURN added;
END $$;

-- Before the partition after T_past is dropped: proves that no row of T_past is later, so that it can be attached again up to the end of
-- that partition without a scan while the table is locked.
CREATE FUNCTION check_past_bound(parent text, child text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  past text := parent || '_past';
  bound text := (SELECT upper_bound FROM list_partitions(parent) WHERE name = child);
BEGIN
  EXECUTE format('ALTER TABLE %I DROP CONSTRAINT IF EXISTS %I, ADD CONSTRAINT %I CHECK (%I < %L) NOT VALID',
    past, past || '_bound', past || '_bound', partition_key(parent), bound);
END $$;

CREATE FUNCTION validate_past_bound(parent text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %I VALIDATE CONSTRAINT %I', parent || '_past', parent || '_past_bound');
END $$;

-- Drops the partition after T_past. Rows with the keys `needed` move to T_past, which from then on ends where the partition did.
-- Returns the number of rows moved.
CREATE FUNCTION drop_partition(parent text, child text, needed text[]) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  past text := parent || '_past';
  bound text;
  moved int := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('partitions of ' || parent, 3));
  SELECT p.upper_bound INTO bound FROM list_partitions(parent) p JOIN list_partitions(parent) before ON before.name = past
   WHERE p.name = child AND p.lower_bound = before.upper_bound;
  IF bound IS NULL THEN RAISE EXCEPTION '% is not the oldest partition of %', child, parent; END IF;
  EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', parent, child);
  EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', parent, past);
  IF needed <> '{}' THEN
    EXECUTE format('INSERT INTO %I SELECT * FROM %I WHERE %I::text = ANY ($1)', past, child, partition_key(parent)) USING needed;
    GET DIAGNOSTICS moved = ROW_COUNT;
  END IF;
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)', parent, past, bound);
  EXECUTE format('DROP TABLE %I', child);
  RETURN moved;
END $$;

-- No foreign keys: those that refer to a partitioned table are checked while one of its partitions is detached, and those of one
-- are created and removed with each partition, which locks projects and endpoints. Triggers do what they did.
ALTER TABLE deliveries DROP CONSTRAINT deliveries_project_id_fkey, DROP CONSTRAINT deliveries_endpoint_id_fkey,
  DROP CONSTRAINT deliveries_event_id_fkey;
ALTER TABLE attempts DROP CONSTRAINT attempts_delivery_id_fkey;
DROP TRIGGER fan_out_events ON events;

DO $$
DECLARE
  parts text[];
  found record;
  bound text;
  is_empty boolean;
BEGIN
  FOREACH parts SLICE 1 IN ARRAY ARRAY[['events', 'evt', 'id'], ['deliveries', 'dlv', 'id'], ['attempts', 'dlv', 'delivery_id']] LOOP
    SELECT substring(pg_get_constraintdef(oid) FROM '''([^'']+)''') INTO bound FROM pg_constraint WHERE conname = parts[1] || '_past_bound';
    IF bound IS NULL THEN
      EXECUTE format('SELECT NOT EXISTS (SELECT FROM %I)', parts[1]) INTO is_empty;
      bound := partition_bound(parts[2], (date_trunc('week', now() AT TIME ZONE 'UTC')
        + CASE WHEN is_empty THEN interval '0' ELSE interval '2 weeks' END) AT TIME ZONE 'UTC');
    END IF;
    EXECUTE format('ALTER TABLE %I RENAME TO %I', parts[1], parts[1] || '_past');
    FOR found IN SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indrelid = (parts[1] || '_past')::regclass LOOP
      EXECUTE format('ALTER INDEX %I RENAME TO %I', found.name, parts[1] || '_past' || substr(found.name, length(parts[1]) + 1));
    END LOOP;
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS) PARTITION BY RANGE (%I)', parts[1], parts[1] || '_past', parts[3]);
    -- The table's own indexes become the partitions of these.
    FOR found IN SELECT pg_get_indexdef(i.indexrelid) AS definition, i.indisprimary, pg_get_constraintdef(c.oid) AS constraint_definition
        FROM pg_index i LEFT JOIN pg_constraint c ON c.conindid = i.indexrelid AND c.contype = 'p'
       WHERE i.indrelid = (parts[1] || '_past')::regclass LOOP
      IF found.indisprimary THEN
        EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I %s', parts[1], parts[1] || '_pkey', found.constraint_definition);
      ELSE
        EXECUTE regexp_replace(found.definition, parts[1] || '_past', parts[1], 'g');
      END IF;
    END LOOP;
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)', parts[1], parts[1] || '_past', bound);
    PERFORM create_partition(parts[1], parts[1] || '_rest', parts[1] || '_past');
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (MAXVALUE)', parts[1], parts[1] || '_rest', bound);
    PERFORM extend_partitions(parts[1], parts[2], interval '1 week', interval '3 weeks');
  END LOOP;
END $$;

-- What the foreign keys did. Locking the endpoint lets its deletion, which deletes its deliveries, come before or after.
CREATE OR REPLACE FUNCTION fan_out_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO deliveries (id, project_id, endpoint_id, event_id)
  SELECT postroom_id('dlv'), wanted.project_id, wanted.endpoint_id, wanted.event_id
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
CREATE TRIGGER fan_out_events AFTER INSERT ON events
  REFERENCING NEW TABLE AS new_events FOR EACH STATEMENT EXECUTE FUNCTION fan_out_events();

CREATE FUNCTION delete_deliveries_of_endpoints() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM deliveries d USING deleted_endpoints e WHERE d.endpoint_id = e.id;
  RETURN NULL;
END $$;
CREATE TRIGGER delete_deliveries AFTER DELETE ON webhook_endpoints
  REFERENCING OLD TABLE AS deleted_endpoints FOR EACH STATEMENT EXECUTE FUNCTION delete_deliveries_of_endpoints();

CREATE FUNCTION delete_attempts_of_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM attempts a USING deleted_deliveries d
   WHERE a.delivery_id = d.id AND a.delivery_id >= (SELECT min(id) FROM deleted_deliveries); -- leaves out older partitions
  RETURN NULL;
END $$;
CREATE TRIGGER delete_attempts AFTER DELETE ON deliveries
  REFERENCING OLD TABLE AS deleted_deliveries FOR EACH STATEMENT EXECUTE FUNCTION delete_attempts_of_deliveries();

-- The dispatcher's functions for deliveries from an id on, so that a round reads the partitions of the last days, and only now and then
-- all of them. Not up to an id: PostgreSQL takes any range of two parameters for a small part of the table, and would read it by id.
-- Those without a limit stay for programs of the previous release.
CREATE FUNCTION count_attempts_in_flight(from_id text) RETURNS TABLE (endpoint_id text, state delivery_state, count int)
LANGUAGE sql STABLE ROWS 100 SET enable_seqscan = off AS $$
  SELECT endpoint_id, state, count(*)::int FROM deliveries
  WHERE id >= from_id AND dispatched_at IS NOT NULL AND closed_at IS NULL AND next_attempt_at <= statement_timestamp()
  GROUP BY endpoint_id, state
$$;

CREATE FUNCTION read_waiting_deliveries(after text, endpoints int, most_waiting int, most_retrying int, from_id text)
RETURNS TABLE (endpoint_id text, waiting int, retrying int)
LANGUAGE sql STABLE ROWS 100 SET enable_seqscan = off AS $$
  WITH RECURSIVE jump AS (
    (SELECT d.endpoint_id, 1 AS number FROM deliveries d
     WHERE d.id >= from_id AND d.dispatched_at IS NULL AND d.state = 'queued' AND d.endpoint_id > after
     ORDER BY d.endpoint_id LIMIT 1)
    UNION ALL
    SELECT next.endpoint_id, jump.number + 1
    FROM jump CROSS JOIN LATERAL (
      SELECT d.endpoint_id FROM deliveries d
      WHERE d.id >= from_id AND d.dispatched_at IS NULL AND d.state = 'queued' AND d.endpoint_id > jump.endpoint_id
      ORDER BY d.endpoint_id LIMIT 1
    ) AS next
    WHERE jump.number < endpoints
  )
  SELECT jump.endpoint_id,
    (SELECT count(*)::int FROM (
       SELECT FROM deliveries d
       WHERE d.id >= from_id AND d.endpoint_id = jump.endpoint_id AND d.dispatched_at IS NULL AND d.state = 'queued'
       LIMIT most_waiting
     ) AS part),
    (SELECT count(*)::int FROM (
       SELECT FROM deliveries d
       WHERE d.id >= from_id AND d.endpoint_id = jump.endpoint_id AND d.state = 'retried' LIMIT most_retrying
     ) AS part)
  FROM jump
$$;

CREATE FUNCTION read_due_retries(after text, endpoints int, most_due int, from_id text) RETURNS TABLE (endpoint_id text, due int)
LANGUAGE sql STABLE ROWS 100 SET enable_seqscan = off AS $$
  WITH RECURSIVE jump AS (
    (SELECT d.endpoint_id, 1 AS number FROM deliveries d
     WHERE d.id >= from_id AND d.dispatched_at IS NULL AND d.state = 'retried' AND d.endpoint_id > after
     ORDER BY d.endpoint_id LIMIT 1)
    UNION ALL
    SELECT next.endpoint_id, jump.number + 1
    FROM jump CROSS JOIN LATERAL (
      SELECT d.endpoint_id FROM deliveries d
      WHERE d.id >= from_id AND d.dispatched_at IS NULL AND d.state = 'retried' AND d.endpoint_id > jump.endpoint_id
      ORDER BY d.endpoint_id LIMIT 1
    ) AS next
    WHERE jump.number < endpoints
  )
  SELECT jump.endpoint_id,
    (SELECT count(*)::int FROM (
       SELECT FROM deliveries d
       WHERE d.id >= from_id AND d.endpoint_id BETWEEN jump.endpoint_id AND jump.endpoint_id
         AND d.dispatched_at IS NULL AND d.state = 'retried' AND d.next_attempt_at <= now()
       ORDER BY d.endpoint_id, d.next_attempt_at LIMIT most_due
     ) AS part)
  FROM jump
$$;
