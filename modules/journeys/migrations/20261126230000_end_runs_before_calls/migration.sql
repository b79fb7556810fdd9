-- By hand. The run is locked before its call, as where the outcome of a call is recorded: the two deadlocked.
CREATE OR REPLACE FUNCTION end_enrollments_of_contacts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE enrollments e SET properties = '{}', due_at = NULL, waits_for = NULL, visit = e.visit + CASE WHEN e.ended_at IS NULL THEN 1 ELSE 0 END,
      status = CASE WHEN e.ended_at IS NULL THEN 'exited' ELSE e.status END,
      end_reason = CASE WHEN e.ended_at IS NULL THEN 'contact_deleted' ELSE e.end_reason END, ended_at = coalesce(e.ended_at, now())
    FROM deleted_contacts c WHERE e.contact_id = c.id;
  -- Responses may be about the contact.
  DELETE FROM journey_calls USING enrollments e, deleted_contacts c WHERE e.contact_id = c.id AND journey_calls.enrollment_id = e.id;
  DELETE FROM journey_triggers t USING deleted_contacts c WHERE t.contact_id = c.id;
  RETURN NULL;
END $$;
