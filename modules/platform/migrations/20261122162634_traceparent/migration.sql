-- The W3C trace context of the request that caused a row. A nullable column without a default rewrites nothing.
-- AlterTable
ALTER TABLE "messages" ADD COLUMN     "traceparent" TEXT;

-- AlterTable
ALTER TABLE "events" ADD COLUMN     "traceparent" TEXT;
