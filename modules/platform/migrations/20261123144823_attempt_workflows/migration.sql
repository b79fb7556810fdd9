-- An attempt names the workflow that made it: a delivery that waits for a retry after a batch has none any more.
ALTER TABLE "attempts" ADD COLUMN     "workflow_id" TEXT;
