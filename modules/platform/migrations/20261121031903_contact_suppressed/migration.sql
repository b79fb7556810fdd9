-- AlterTable
ALTER TABLE "contacts" ADD COLUMN     "suppressed" BOOLEAN NOT NULL DEFAULT false;

-- By hand. "suppressed" says whether suppressions has a row for the contact's address: lists filter by it and the ledger
-- reads it, so it must be true also when a contact and a suppression of its address are written at the same time. Who
-- writes contacts shares a lock of the project, who writes suppressions has it alone: the later of two sees the other.
-- A transaction that does both takes it alone first, by lock_suppressions.
CREATE FUNCTION lock_suppressions(project_id text) RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(hashtextextended(project_id, 1))
$$;

CREATE FUNCTION contact_suppressed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended(NEW.project_id, 1));
  NEW.suppressed := EXISTS (
    SELECT FROM suppressions s WHERE s.project_id = NEW.project_id AND s.email_key = NEW.email_key
  );
  RETURN NEW;
END $$;

CREATE FUNCTION suppressions_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM lock_suppressions(p.project_id) FROM (SELECT DISTINCT project_id FROM added ORDER BY 1) p;
  UPDATE contacts c SET suppressed = true FROM added a
   WHERE c.project_id = a.project_id AND c.email_key = a.email_key AND NOT c.suppressed;
  RETURN NULL;
END $$;

CREATE FUNCTION suppressions_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM lock_suppressions(p.project_id) FROM (SELECT DISTINCT project_id FROM removed ORDER BY 1) p;
  UPDATE contacts c SET suppressed = false FROM removed r
   WHERE c.project_id = r.project_id AND c.email_key = r.email_key AND c.suppressed
     AND NOT EXISTS (SELECT FROM suppressions s WHERE s.project_id = r.project_id AND s.email_key = r.email_key);
  RETURN NULL;
END $$;

UPDATE contacts c SET suppressed = true
 WHERE EXISTS (SELECT FROM suppressions s WHERE s.project_id = c.project_id AND s.email_key = c.email_key);

CREATE TRIGGER contact_suppressed BEFORE INSERT OR UPDATE OF email_key ON contacts
  FOR EACH ROW EXECUTE FUNCTION contact_suppressed();
CREATE TRIGGER suppressions_added AFTER INSERT ON suppressions REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION suppressions_added();
CREATE TRIGGER suppressions_removed AFTER DELETE ON suppressions REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION suppressions_removed();

CREATE INDEX "contacts_suppressed_idx" ON "contacts"("project_id", "id") WHERE "suppressed";
