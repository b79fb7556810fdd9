-- Partitions of messages and their contents, by the time in their ids: see docs/decisions/partitions.md, and the migration `partitions`,
-- which defines the functions and explains the steps. Only an empty table is partitioned here. Programs of the previous release have
-- statements that are unsafe on a partitioned one, so `postroom operator partition-messages` does it later for a table that is in use.

-- A partition also has the unique indexes that its template has on its own: those without the key, which PostgreSQL can't have for a
-- partitioned table.
CREATE OR REPLACE FUNCTION create_partition(parent text, child text, template text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  options text := (SELECT array_to_string(reloptions, ', ') FROM pg_class WHERE oid = template::regclass);
  found record;
BEGIN
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS)', child, parent);
  IF options <> '' THEN EXECUTE format('ALTER TABLE %I SET (%s)', child, options); END IF;
  FOR found IN SELECT pg_get_indexdef(i.indexrelid) AS definition FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
      WHERE i.indrelid = template::regclass AND i.indisunique AND NOT i.indisprimary AND NOT c.relispartition LOOP
    EXECUTE replace(found.definition, template, child);
  END LOOP;
END $$;

-- Partitions of three months and of years too, each to the first day of the next.
CREATE OR REPLACE FUNCTION extend_partitions(parent text, prefix text, length interval, ahead interval) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  rest text := parent || '_rest';
  unit text := CASE WHEN length < interval '28 days' THEN 'week' WHEN length < interval '3 months' THEN 'month'
    WHEN length < interval '1 year' THEN 'quarter' ELSE 'year' END;
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

CREATE FUNCTION delete_contents_of_messages() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  ids text[];
  lowest text;
  highest text;
BEGIN
  SELECT array_agg(id), min(id), max(id) INTO ids, lowest, highest FROM deleted_messages;
  DELETE FROM message_attachments WHERE message_id = ANY (ids);
  -- The limits leave out partitions: see "Statements that lock rows" there.
  DELETE FROM message_contents WHERE message_id = ANY (ids) AND message_id >= lowest AND message_id <= highest;
  RETURN NULL;
END $$;

-- Each partition has a unique index on contact and campaign. Together they keep a contact from being in a campaign twice because all
-- messages of a campaign are in one partition: their ids begin with the campaign's prefix, which never changes.
CREATE FUNCTION keep_snapshot_prefix() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the prefix of the messages of % can''t change', OLD.id USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER keep_snapshot_prefix BEFORE UPDATE OF snapshot_prefix ON campaigns
  FOR EACH ROW WHEN (OLD.snapshot_prefix IS NOT NULL AND NEW.snapshot_prefix IS DISTINCT FROM OLD.snapshot_prefix)
  EXECUTE FUNCTION keep_snapshot_prefix();

CREATE FUNCTION messages_are_partitioned() RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT relkind = 'p' FROM pg_class WHERE oid = 'messages'::regclass
$$;

-- First step for a table with rows: it will be the partition of all ids up to a Monday that the last step will certainly be done by. To
-- validate the constraints, which the caller does next, blocks no one.
CREATE FUNCTION bound_messages() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  -- One bound for both, so that a message and its content are in partitions of the same time.
  bound text := partition_bound('eml', (date_trunc('week', greatest(now(), (SELECT partition_bound_time('eml', max(id)) FROM messages))
    AT TIME ZONE 'UTC') + interval '3 weeks') AT TIME ZONE 'UTC');
BEGIN
  EXECUTE format('ALTER TABLE messages DROP CONSTRAINT IF EXISTS messages_past_bound,
    ADD CONSTRAINT messages_past_bound CHECK (id < %L) NOT VALID', bound);
  EXECUTE format('ALTER TABLE message_contents DROP CONSTRAINT IF EXISTS message_contents_past_bound,
    ADD CONSTRAINT message_contents_past_bound CHECK (message_id < %L) NOT VALID', bound);
END $$;

-- Ids of a later time are rejected while the tables have these constraints, so they must not stay if the last step is not reached.
CREATE FUNCTION unbound_messages() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  ALTER TABLE messages DROP CONSTRAINT IF EXISTS messages_past_bound;
  ALTER TABLE message_contents DROP CONSTRAINT IF EXISTS message_contents_past_bound;
END $$;

-- Last step: the tables become the first partitions of tables of the same names. Triggers do what the foreign keys did.
CREATE FUNCTION partition_messages() RETURNS void LANGUAGE plpgsql AS $do$
DECLARE
  parts text[];
  found record;
  bound text := (SELECT substring(pg_get_constraintdef(oid) FROM $$'([^']+)'$$) FROM pg_constraint WHERE conname = 'messages_past_bound');
BEGIN
  LOCK TABLE messages, message_contents, message_attachments IN ACCESS EXCLUSIVE MODE;
  IF bound IS NULL THEN
    IF EXISTS (SELECT FROM messages) THEN RAISE EXCEPTION 'messages have no bound'; END IF;
    bound := partition_bound('eml', date_trunc('week', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC');
  END IF;
  ALTER TABLE message_contents DROP CONSTRAINT message_contents_message_id_fkey;
  ALTER TABLE message_attachments DROP CONSTRAINT message_attachments_message_id_fkey;
  DROP TRIGGER count_message_outcomes ON messages;
  FOREACH parts SLICE 1 IN ARRAY ARRAY[['messages', 'id'], ['message_contents', 'message_id']] LOOP
    EXECUTE format('ALTER TABLE %I RENAME TO %I', parts[1], parts[1] || '_past');
    FOR found IN SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indrelid = (parts[1] || '_past')::regclass LOOP
      EXECUTE format('ALTER INDEX %I RENAME TO %I', found.name, parts[1] || '_past' || substr(found.name, length(parts[1]) + 1));
    END LOOP;
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS) PARTITION BY RANGE (%I)', parts[1], parts[1] || '_past', parts[2]);
    FOR found IN SELECT pg_get_indexdef(i.indexrelid) AS definition, i.indisprimary, pg_get_constraintdef(c.oid) AS constraint_definition
        FROM pg_index i LEFT JOIN pg_constraint c ON c.conindid = i.indexrelid AND c.contype = 'p'
       WHERE i.indrelid = (parts[1] || '_past')::regclass AND (i.indisprimary OR NOT i.indisunique) LOOP
      IF found.indisprimary THEN
        EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I %s', parts[1], parts[1] || '_pkey', found.constraint_definition);
      ELSE
        EXECUTE regexp_replace(found.definition, parts[1] || '_past', parts[1], 'g');
      END IF;
    END LOOP;
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)', parts[1], parts[1] || '_past', bound);
    PERFORM create_partition(parts[1], parts[1] || '_rest', parts[1] || '_past');
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (MAXVALUE)', parts[1], parts[1] || '_rest', bound);
    PERFORM extend_partitions(parts[1], 'eml', interval '1 month', interval '3 weeks');
  END LOOP;
  -- A campaign's claims name the partition, for which these triggers don't run. They change no outcome, and delete nothing.
  CREATE TRIGGER count_message_outcomes AFTER UPDATE ON messages
    REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION count_message_outcomes();
  CREATE TRIGGER delete_contents AFTER DELETE ON messages
    REFERENCING OLD TABLE AS deleted_messages FOR EACH STATEMENT EXECUTE FUNCTION delete_contents_of_messages();
END $do$;

SET LOCAL lock_timeout = '150ms';
DO $$ BEGIN IF NOT EXISTS (SELECT FROM messages) THEN PERFORM partition_messages(); END IF; END $$;
