-- Streams outlive the request that opened them, so whoever takes rights away says whose, in the statement that does it:
-- gateways then ask again who is behind each of that caller's streams. `access *` is about everybody.
CREATE FUNCTION tell_access_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('postroom', 'access ' || coalesce(to_jsonb(OLD) ->> TG_ARGV[0], '*'));
  RETURN NULL;
END $$;

CREATE TRIGGER tell_access_change AFTER DELETE OR UPDATE OF revoked_at, scope, all_projects ON api_keys
  FOR EACH ROW EXECUTE FUNCTION tell_access_change('id');
CREATE TRIGGER tell_access_change AFTER DELETE ON api_key_projects
  FOR EACH ROW EXECUTE FUNCTION tell_access_change('key_id');
CREATE TRIGGER tell_access_change AFTER DELETE ON sessions
  FOR EACH ROW EXECUTE FUNCTION tell_access_change('user_id');
CREATE TRIGGER tell_access_change AFTER DELETE OR UPDATE OF role ON members
  FOR EACH ROW EXECUTE FUNCTION tell_access_change('user_id');
CREATE TRIGGER tell_access_change AFTER DELETE ON projects
  FOR EACH ROW EXECUTE FUNCTION tell_access_change('');
