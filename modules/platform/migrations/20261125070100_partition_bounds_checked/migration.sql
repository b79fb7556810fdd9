-- postroom: no transaction
-- Reads the tables, but blocks neither reads nor writes. One line each, since statements end at the end of a line.
DO $$ BEGIN IF EXISTS (SELECT FROM pg_constraint WHERE conname = 'events_past_bound') THEN ALTER TABLE events VALIDATE CONSTRAINT events_past_bound; END IF; END $$;
DO $$ BEGIN IF EXISTS (SELECT FROM pg_constraint WHERE conname = 'deliveries_past_bound') THEN ALTER TABLE deliveries VALIDATE CONSTRAINT deliveries_past_bound; END IF; END $$;
DO $$ BEGIN IF EXISTS (SELECT FROM pg_constraint WHERE conname = 'attempts_past_bound') THEN ALTER TABLE attempts VALIDATE CONSTRAINT attempts_past_bound; END IF; END $$;
