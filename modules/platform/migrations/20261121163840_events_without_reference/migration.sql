-- DropForeignKey
ALTER TABLE "events" DROP CONSTRAINT "events_project_id_fkey";
