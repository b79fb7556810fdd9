-- By hand. Who was erased is kept as a hash in suppressions, in place of the address: nobody reads an address there, and whoever
-- has one can ask for it. Every question whether an address is suppressed asks for both.
CREATE FUNCTION erased_key(project_id text, email_key text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT 'erased:' || encode(sha256(convert_to(project_id || ' ' || email_key, 'UTF8')), 'hex')
$$;

CREATE OR REPLACE FUNCTION contact_suppressed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended(NEW.project_id, 1));
  NEW.suppressed := EXISTS (
    SELECT FROM suppressions s
     WHERE s.project_id = NEW.project_id AND s.email_key IN (NEW.email_key, erased_key(NEW.project_id, NEW.email_key))
  );
  RETURN NEW;
END $$;
