-- CreateTable
CREATE TABLE "webhook_endpoint_hours" (
    "endpoint_id" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "acknowledged" INTEGER NOT NULL,
    "failed" INTEGER NOT NULL,

    CONSTRAINT "webhook_endpoint_hours_pkey" PRIMARY KEY ("endpoint_id","hour")
);

-- CreateIndex
CREATE INDEX "webhook_endpoint_hours_hour_idx" ON "webhook_endpoint_hours"("hour");

-- What the attempts of the last day were, so that endpoints have their state at once.
INSERT INTO webhook_endpoint_hours (endpoint_id, hour, acknowledged, failed)
SELECT d.endpoint_id, date_trunc('hour', a.started_at, 'UTC'),
  count(*) FILTER (WHERE a.status BETWEEN 200 AND 299), count(*) FILTER (WHERE a.status NOT BETWEEN 200 AND 299 OR a.status IS NULL)
FROM attempts a JOIN deliveries d ON d.id = a.delivery_id
WHERE a.started_at >= date_trunc('hour', now(), 'UTC') - interval '23 hours'
GROUP BY 1, 2;
