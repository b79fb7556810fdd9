-- By hand. Whether an address is suppressed in a project, as of now, and until the transaction ends no suppression is added. A statement
-- that creates contacts asks this instead of reading suppressions itself: it reads those of before it began, and would create a contact
-- of a person whose erasure it has waited for.
CREATE FUNCTION suppressed_until_commit(project_id text, email_key text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended(suppressed_until_commit.project_id, 1));
  RETURN EXISTS (
    SELECT FROM suppressions s WHERE s.project_id = suppressed_until_commit.project_id
      AND s.email_key IN (suppressed_until_commit.email_key, erased_key(suppressed_until_commit.project_id, suppressed_until_commit.email_key))
  );
END $$;

CREATE OR REPLACE FUNCTION contact_suppressed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.suppressed := suppressed_until_commit(NEW.project_id, NEW.email_key);
  RETURN NEW;
END $$;
