-- Unlogged: leasing waits for no disk, and a crash of the server only forgets leases that last seconds. No index but the primary key,
-- so that an update touches none.
CREATE UNLOGGED TABLE "shared_slots" (
    "name" TEXT NOT NULL,
    "holders" JSONB NOT NULL,
    "request" JSONB NOT NULL,
    "updated_at" TIMESTAMPTZ(6) NOT NULL,

    CONSTRAINT "shared_slots_pkey" PRIMARY KEY ("name")
);

-- The leases after a request. Its fields: the holder, the slots that it uses and wants, how many there are (most), and how long a lease
-- lasts and a turn takes, in milliseconds. A lease is [slots, wanted, expires at, share], in Unix milliseconds.
--
-- Shares are as equal as what is wanted allows: nobody gets more than wanted, and what some leave goes to the others. With fewer slots
-- than holders, these take turns. A holder that uses more than its share keeps it until it reports less, so the sum of all leases
-- never grows beyond `most`.
CREATE FUNCTION lease_slots(holders jsonb, request jsonb) RETURNS jsonb LANGUAGE sql VOLATILE AS $$
  WITH asked AS MATERIALIZED (
    SELECT request->>'holder' AS holder, (request->>'used')::int AS used, (request->>'wanted')::int AS wanted,
      (request->>'most')::int AS most, (request->>'leaseMs')::float8 AS lease_ms, (request->>'turnMs')::float8 AS turn_ms,
      extract(epoch FROM clock_timestamp())::float8 * 1000 AS now
  ), others AS MATERIALIZED (
    SELECT h.key AS holder, h.value, (h.value->>0)::int AS slots, (h.value->>1)::int AS wanted
    FROM jsonb_each(holders) AS h, asked WHERE h.key <> asked.holder AND (h.value->>2)::float8 > asked.now
  ), wanting AS MATERIALIZED (
    SELECT holder, wanted FROM others UNION ALL SELECT holder, wanted FROM asked
  ), level AS MATERIALIZED (
    -- The highest level to which all can be filled: that of those left when the ones that want less have what they want.
    SELECT floor(max((most - before) / (count - number + 1)::float8))::int AS whole FROM (
      SELECT coalesce(sum(wanted) OVER (ORDER BY wanted, holder ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before,
        row_number() OVER (ORDER BY wanted, holder) AS number, count(*) OVER () AS count
      FROM wanting
    ) AS filled, asked
  ), rest AS MATERIALIZED (
    SELECT most - (SELECT sum(least(wanted, whole)) FROM wanting) AS slots FROM level, asked
  ), share AS (
    SELECT least(asked.wanted, whole) + coalesce((
      SELECT 1 FROM (
        SELECT holder, row_number() OVER (ORDER BY holder) - 1 AS place, count(*) OVER () AS count FROM wanting WHERE wanted > whole
      ) AS short, rest
      WHERE short.holder = asked.holder
        AND (place + CASE WHEN whole = 0 THEN floor(now / turn_ms)::bigint ELSE 0 END) % count < rest.slots
    ), 0) AS slots
    FROM level, asked
  )
  SELECT coalesce((SELECT jsonb_object_agg(holder, value) FROM others), '{}') || CASE
    WHEN used = 0 AND wanted = 0 THEN '{}'
    ELSE jsonb_build_object(holder, jsonb_build_array(
      greatest(used, least(share.slots, most - coalesce((SELECT sum(slots) FROM others), 0))), wanted, now + lease_ms, share.slots))
  END
  FROM asked, share
$$;
