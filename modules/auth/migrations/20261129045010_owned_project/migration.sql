-- AlterTable
ALTER TABLE "users" ADD COLUMN     "owned_project" BOOLEAN NOT NULL DEFAULT false;
