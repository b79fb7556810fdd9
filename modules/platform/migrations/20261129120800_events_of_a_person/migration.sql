-- The events of a person, without an entry per event: a summary of every half megabyte tells whether it may have some. New partitions get
-- the index with this; the migrator builds it in those that exist, one by one and while they are used.
CREATE INDEX "events_person_idx" ON ONLY "events" USING brin (
  ("data" ->> 'contact_id') text_bloom_ops (n_distinct_per_range = 1500),
  (lower("data" ->> 'email')) text_bloom_ops (n_distinct_per_range = 1500)
) WITH (pages_per_range = 64, autosummarize = on);
