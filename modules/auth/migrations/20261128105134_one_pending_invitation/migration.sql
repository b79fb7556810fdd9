-- An address has one pending invitation to a project, the newest.
DELETE FROM invitations older USING invitations newer
WHERE older.accepted_at IS NULL AND newer.accepted_at IS NULL AND newer.project_id = older.project_id AND newer.email = older.email AND newer.id > older.id;
CREATE UNIQUE INDEX invitations_pending_once ON invitations (project_id, email) WHERE accepted_at IS NULL;
