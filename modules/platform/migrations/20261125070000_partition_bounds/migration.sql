-- Prepares events, deliveries and attempts to become the first partitions of partitioned tables: see docs/decisions/partitions.md.

-- Gives way before PostgreSQL would look for deadlocks: see the migration after the next.
SET LOCAL lock_timeout = '200ms';

-- The lower bound of ids created at or after a time, as idsFrom() of @postroom/platform. Without a prefix, the time itself.
CREATE FUNCTION partition_bound(prefix text, at timestamptz) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  ms bigint := floor(extract(epoch FROM at) * 1000);
  digits text := '';
BEGIN
  IF prefix IS NULL THEN RETURN at::text; END IF;
  FOR place IN 1..10 LOOP
    digits := substr('0123456789abcdefghjkmnpqrstvwxyz', (ms & 31)::int + 1, 1) || digits;
    ms := ms >> 5;
  END LOOP;
  RETURN prefix || '_' || digits || repeat('0', 16);
END $$;

-- The time that such a bound stands for; of an id, when it was created.
CREATE FUNCTION partition_bound_time(prefix text, bound text) RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
DECLARE
  ms bigint := 0;
BEGIN
  IF prefix IS NULL THEN RETURN bound::timestamptz; END IF;
  FOR place IN 1..10 LOOP
    ms := ms * 32 + strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(bound, length(prefix) + 1 + place, 1)) - 1;
  END LOOP;
  RETURN to_timestamp(ms / 1000.0);
END $$;

-- A table with rows becomes the partition of all ids up to a Monday that the migrations will certainly have finished by: until then
-- inserts must satisfy the constraint. It is checked by the next migration, without blocking anyone, so that attaching the table
-- needs no scan. An empty table needs neither.
DO $$
DECLARE
  parts text[];
  newest text;
BEGIN
  FOREACH parts SLICE 1 IN ARRAY ARRAY[['events', 'evt', 'id'], ['deliveries', 'dlv', 'id'], ['attempts', 'dlv', 'delivery_id']] LOOP
    EXECUTE format('SELECT max(%I) FROM %I', parts[3], parts[1]) INTO newest;
    CONTINUE WHEN newest IS NULL;
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I CHECK (%I < %L) NOT VALID', parts[1], parts[1] || '_past_bound', parts[3],
      partition_bound(parts[2], (date_trunc('week',
        greatest(now(), partition_bound_time(parts[2], newest)) AT TIME ZONE 'UTC') + interval '3 weeks') AT TIME ZONE 'UTC'));
  END LOOP;
END $$;
