-- CreateTable
CREATE TABLE "domain_blocks" (
    "domain" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "blocked_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "domain_blocks_pkey" PRIMARY KEY ("domain")
);

-- By hand: blocks were known only from the projects that have the domain.
INSERT INTO domain_blocks (domain, reason, blocked_at)
  SELECT DISTINCT ON (domain) domain, coalesce(blocked_reason, ''), blocked_at FROM domains WHERE blocked_at IS NOT NULL ORDER BY domain, blocked_at;
