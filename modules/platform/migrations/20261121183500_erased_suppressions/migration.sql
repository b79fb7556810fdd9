-- By hand. Whether anybody was erased in a project, in one look: only then what writes many contacts at once makes the hash of each
-- address, which takes as long as writing it into an index.
CREATE INDEX "suppressions_erased_idx" ON "suppressions"("project_id") WHERE "email" = 'erased';
