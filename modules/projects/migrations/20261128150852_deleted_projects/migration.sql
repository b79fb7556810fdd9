-- AlterEnum
ALTER TYPE "project_cell_state" ADD VALUE 'deleted';
