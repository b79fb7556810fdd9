-- By hand, and apart from the new column, whose lock nothing should wait for. Counts what providers rejected before.
UPDATE campaigns c SET rejected_count = n.number
FROM (SELECT campaign_id, count(*) AS number FROM messages WHERE rejected_at IS NOT NULL GROUP BY campaign_id) AS n
WHERE c.id = n.campaign_id;
