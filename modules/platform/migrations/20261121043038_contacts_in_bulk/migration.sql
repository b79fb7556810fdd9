-- By hand: what writes many contacts at once. Looking for the suppression of each new address by itself is a fifth of what an
-- import costs. A transaction that shares the project's suppressions may leave the suppressed addresses out by itself, in one
-- look at all of them: no suppression can appear before it ends.
CREATE FUNCTION share_suppressions(project_id text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended(project_id, 1));
  PERFORM set_config('postroom.shares_suppressions', project_id, true);
END $$;

DROP TRIGGER contact_suppressed ON contacts;
CREATE TRIGGER contact_added BEFORE INSERT ON contacts FOR EACH ROW
  WHEN (current_setting('postroom.shares_suppressions', true) IS DISTINCT FROM NEW.project_id)
  EXECUTE FUNCTION contact_suppressed();
CREATE TRIGGER contact_moved BEFORE UPDATE OF email_key ON contacts FOR EACH ROW
  EXECUTE FUNCTION contact_suppressed();

-- The bound on what searches have to read beside an index is a setting of our connections now, so that an import can have a
-- wider one: to merge 512 kB at a time into the search index is a third of what it costs.
ALTER INDEX IF EXISTS "contacts_search_idx" RESET (gin_pending_list_limit);
ALTER INDEX "contacts_custom_fields_idx" RESET (gin_pending_list_limit);
