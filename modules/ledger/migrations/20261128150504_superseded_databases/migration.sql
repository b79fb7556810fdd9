-- By hand: refuses every change of a database that another one has taken over from, for as long as it is held for the reason that the
-- trigger names. Its triggers are created by the worker that finds out, so a database that is not superseded has none.
CREATE FUNCTION refuse_superseded() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- A code of class 55 (object not in prerequisite state), so that background work tries again later.
  IF EXISTS (SELECT FROM installation WHERE held_reason = TG_ARGV[0]) THEN
    RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = '55M02';
  END IF;
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  RETURN NEW;
END $$;

-- Why requests would fail, for /readyz; NULL if they would not. The reason of a database that has taken over itself names an earlier epoch.
CREATE FUNCTION database_problem() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN pg_is_in_recovery() THEN 'The database is a standby.'
    WHEN current_setting('transaction_read_only') = 'on' THEN 'The database is read-only.'
    WHEN held_reason LIKE 'Another database has taken over since epoch ' || epoch || '.%' THEN held_reason
  END FROM installation
$$;
