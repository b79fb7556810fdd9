-- AlterEnum
ALTER TYPE "journey_trigger_kind" ADD VALUE 'form';

-- Subscribers enter journeys in the transaction that confirms them, once: a confirmation is never undone.
CREATE FUNCTION trigger_journeys_by_forms() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE found int;
BEGIN
  INSERT INTO journey_triggers (journey_id, kind, key, contact_id, properties)
  SELECT l.journey_id, 'form', NEW.form_id, NEW.contact_id, jsonb_build_object('form_id', NEW.form_id)
    FROM journey_listeners l WHERE l.kind = 'form' AND l.key = NEW.form_id;
  GET DIAGNOSTICS found = ROW_COUNT;
  IF found > 0 THEN PERFORM pg_notify('postroom', 'journeys'); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER trigger_journeys AFTER UPDATE ON form_submissions
  FOR EACH ROW WHEN (OLD.confirmed_at IS NULL AND NEW.confirmed_at IS NOT NULL) EXECUTE FUNCTION trigger_journeys_by_forms();
