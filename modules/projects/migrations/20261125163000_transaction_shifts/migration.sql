-- A new column with a default: programs of the previous release don't notice it.
ALTER TABLE "project_cells" ADD COLUMN     "transaction_shifts" BIGINT[] DEFAULT ARRAY[]::BIGINT[];
