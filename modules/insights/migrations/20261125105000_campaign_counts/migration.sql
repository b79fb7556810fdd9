-- AlterTable
ALTER TABLE "campaigns" ADD COLUMN     "is_counted" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "campaign_counts" (
    "campaign_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "number" INTEGER NOT NULL,

    CONSTRAINT "campaign_counts_pkey" PRIMARY KEY ("campaign_id","kind","at")
);

-- By hand, to the end.
ALTER TABLE campaign_counts ADD FOREIGN KEY (campaign_id) REFERENCES campaigns ON DELETE CASCADE;

-- Campaigns that started before, or by a gateway of the previous version, which workers count once.
CREATE INDEX campaigns_uncounted_idx ON campaigns (id) WHERE started_at IS NOT NULL AND NOT is_counted;

-- The outcomes of a message that charts show, each with the start of its minute or hour.
CREATE FUNCTION message_outcomes(
  accepted_at timestamptz, failed_at timestamptz, bounced_at timestamptz, delivered_at timestamptz, opened_at timestamptz,
  clicked_at timestamptz, complained_at timestamptz, unsubscribed_at timestamptz
) RETURNS TABLE (kind text, at timestamptz) LANGUAGE sql IMMUTABLE AS $$
  SELECT kind, at FROM (VALUES
    ('sent', date_bin('1 minute', accepted_at, 'epoch')),
    ('failed', date_bin('1 minute', failed_at, 'epoch')),
    ('bounced', date_bin('1 minute', bounced_at, 'epoch')),
    ('delivered', date_bin('1 hour', delivered_at, 'epoch')),
    ('opened', date_bin('1 hour', opened_at, 'epoch')),
    ('clicked', date_bin('1 hour', clicked_at, 'epoch')),
    ('complained', date_bin('1 hour', complained_at, 'epoch')),
    ('unsubscribed', date_bin('1 hour', unsubscribed_at, 'epoch'))) AS outcome (kind, at)
  WHERE at IS NOT NULL
$$;

-- Adds what a statement changed: the outcomes of its messages as they are now, less those as they were. Equal ones cancel each other out
-- first. The campaign is locked next, as by all that counts its
-- messages, so statements that change several campaigns can't wait for each other in a circle. The lock also decides whether
-- count_campaign() has seen the change.
CREATE FUNCTION count_message_outcomes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Cheap for claims, and for mail of no campaign.
  IF NOT EXISTS (SELECT FROM after WHERE campaign_id IS NOT NULL AND coalesce(accepted_at, unsent_at, bounced_at, delivered_at,
       opened_at, clicked_at, complained_at, unsubscribed_at) IS NOT NULL)
    AND NOT EXISTS (SELECT FROM before WHERE campaign_id IS NOT NULL AND coalesce(accepted_at, unsent_at, bounced_at, delivered_at,
       opened_at, clicked_at, complained_at, unsubscribed_at) IS NOT NULL)
  THEN RETURN NULL; END IF;
  WITH messages AS (
    SELECT sum(number)::int AS number, campaign_id, accepted_at, failed_at, bounced_at, delivered_at, opened_at, clicked_at, complained_at,
           unsubscribed_at
      FROM (SELECT 1 AS number, campaign_id, accepted_at, CASE WHEN state = 'failed' THEN unsent_at END AS failed_at, bounced_at,
                   delivered_at, opened_at, clicked_at, complained_at, unsubscribed_at
              FROM after WHERE campaign_id IS NOT NULL
            UNION ALL
            SELECT -1, campaign_id, accepted_at, CASE WHEN state = 'failed' THEN unsent_at END, bounced_at, delivered_at, opened_at,
                   clicked_at, complained_at, unsubscribed_at
              FROM before WHERE campaign_id IS NOT NULL) AS m
     GROUP BY 2, 3, 4, 5, 6, 7, 8, 9, 10 HAVING sum(number) <> 0
  ), changed AS (
    SELECT m.campaign_id, o.kind, o.at, sum(m.number)::int AS number FROM messages m
     CROSS JOIN LATERAL message_outcomes(m.accepted_at, m.failed_at, m.bounced_at, m.delivered_at, m.opened_at, m.clicked_at,
       m.complained_at, m.unsubscribed_at) AS o
     GROUP BY 1, 2, 3 HAVING sum(m.number) <> 0
  ), locked AS (
    SELECT id, started_at, is_counted FROM campaigns WHERE id IN (SELECT campaign_id FROM changed) ORDER BY id FOR NO KEY UPDATE
  )
  INSERT INTO campaign_counts AS c (campaign_id, kind, at, number)
  SELECT n.campaign_id, n.kind, n.at, n.number FROM changed n JOIN locked l ON l.id = n.campaign_id
   WHERE l.is_counted AND n.at < l.started_at + interval '72 hours' ORDER BY 1, 2, 3
  ON CONFLICT (campaign_id, kind, at) DO UPDATE SET number = c.number + excluded.number;
  RETURN NULL;
END $$;
CREATE TRIGGER count_message_outcomes AFTER UPDATE ON messages
  REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION count_message_outcomes();

-- Counts all messages of a campaign that is not counted yet. Those that change meanwhile wait for its lock, and are counted by the trigger.
CREATE FUNCTION count_campaign(campaign text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  start timestamptz;
BEGIN
  SELECT started_at INTO start FROM campaigns WHERE id = campaign AND NOT is_counted FOR NO KEY UPDATE;
  IF start IS NULL THEN RETURN; END IF;
  DELETE FROM campaign_counts WHERE campaign_id = campaign;
  INSERT INTO campaign_counts (campaign_id, kind, at, number)
  SELECT campaign, o.kind, o.at, count(*) FROM messages m
   CROSS JOIN LATERAL message_outcomes(m.accepted_at, CASE WHEN m.state = 'failed' THEN m.unsent_at END, m.bounced_at, m.delivered_at,
     m.opened_at, m.clicked_at, m.complained_at, m.unsubscribed_at) AS o
   WHERE m.campaign_id = campaign AND o.at < start + interval '72 hours' GROUP BY 2, 3;
  UPDATE campaigns SET is_counted = true WHERE id = campaign;
END $$;
