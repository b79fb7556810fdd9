-- By hand: partitioned by month. Prisma can't express this.
-- CreateTable
CREATE TABLE "custom_events" (
    "project_id" TEXT NOT NULL,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,
    "id" TEXT NOT NULL,
    "contact_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "properties" JSONB NOT NULL DEFAULT '{}',
    "received_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "custom_events_pkey" PRIMARY KEY ("project_id","occurred_at","id")
) PARTITION BY RANGE ("occurred_at");

-- CreateTable
CREATE TABLE "custom_event_keys" (
    "project_id" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "contact_id" TEXT NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "custom_event_keys_pkey" PRIMARY KEY ("project_id","key")
);

-- CreateTable
CREATE TABLE "custom_event_contact_days" (
    "project_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "contact_id" TEXT NOT NULL,
    "event_count" INTEGER NOT NULL,
    "first_at" TIMESTAMPTZ(3) NOT NULL,
    "last_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "custom_event_contact_days_pkey" PRIMARY KEY ("project_id","name","day","contact_id")
) PARTITION BY RANGE ("day");

-- CreateTable
CREATE TABLE "custom_event_days" (
    "project_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "event_count" INTEGER NOT NULL,

    CONSTRAINT "custom_event_days_pkey" PRIMARY KEY ("project_id","name","day")
);

-- CreateTable
CREATE TABLE "custom_event_definitions" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "locked" BOOLEAN NOT NULL DEFAULT false,
    "first_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "custom_event_definitions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "custom_event_properties" (
    "definition_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "types" TEXT[],
    "type" TEXT,
    "description" TEXT NOT NULL DEFAULT '',
    "default_value" JSONB,
    "example" TEXT,
    "first_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "custom_event_properties_pkey" PRIMARY KEY ("definition_id","name")
);

-- AlterTable
ALTER TABLE "projects" ADD COLUMN     "custom_event_retention_days" INTEGER;

-- CreateIndex
CREATE INDEX "custom_events_project_id_contact_id_occurred_at_id_idx" ON "custom_events"("project_id", "contact_id", "occurred_at", "id");

-- CreateIndex
CREATE INDEX "custom_events_project_id_name_occurred_at_id_idx" ON "custom_events"("project_id", "name", "occurred_at", "id");

-- CreateIndex
CREATE INDEX "custom_event_keys_received_at_idx" ON "custom_event_keys"("received_at");

-- CreateIndex
CREATE INDEX "custom_event_contact_days_project_id_contact_id_idx" ON "custom_event_contact_days"("project_id", "contact_id");

-- CreateIndex
CREATE UNIQUE INDEX "custom_event_definitions_project_id_name_key" ON "custom_event_definitions"("project_id", "name");

-- AddForeignKey
ALTER TABLE "custom_event_properties" ADD CONSTRAINT "custom_event_properties_definition_id_fkey" FOREIGN KEY ("definition_id") REFERENCES "custom_event_definitions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- By hand, to the end. Projects know nothing about events.
ALTER TABLE "custom_event_definitions" ADD CONSTRAINT "custom_event_definitions_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE;

-- Counters are updated all day, without changes to their indexes; free space keeps the new versions on their pages.
ALTER TABLE "custom_event_days" SET (fillfactor = 50);

-- Creates the partitions of the months from one day to another that do not exist. They are created apart and attached, because
-- CREATE TABLE … PARTITION OF would wait for, and then block, every query of the partitioned table.
CREATE FUNCTION create_custom_event_partitions(from_day date, to_day date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  month date := date_trunc('month', from_day);
  parent text;
  child text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('create_custom_event_partitions'));
  WHILE month <= to_day LOOP
    FOREACH parent IN ARRAY ARRAY['custom_events', 'custom_event_contact_days'] LOOP
      child := parent || to_char(month, '_YYYYMM');
      IF to_regclass(child) IS NULL THEN
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS)', child, parent);
        IF parent = 'custom_event_contact_days' THEN
          EXECUTE format('ALTER TABLE %I SET (fillfactor = 80)', child);
        END IF;
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, child,
          month || ' 00:00:00+00', (month + interval '1 month')::date || ' 00:00:00+00');
      END IF;
    END LOOP;
    month := month + interval '1 month';
  END LOOP;
END $$;

SELECT create_custom_event_partitions((now() - interval '31 days')::date, (now() + interval '62 days')::date);

CREATE FUNCTION drop_custom_event_partition(child text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('DROP TABLE IF EXISTS %I', child);
END $$;

CREATE FUNCTION is_custom_event_partition_empty(child text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  found boolean;
BEGIN
  EXECUTE format('SELECT EXISTS (SELECT FROM %I)', child) INTO found;
  RETURN NOT found;
END $$;

-- The events of a contact go with it. The transaction that inserts events locks their contacts, so none comes too late.
CREATE FUNCTION delete_custom_events_of_contacts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM custom_events e USING deleted_contacts c WHERE e.project_id = c.project_id AND e.contact_id = c.id;
  DELETE FROM custom_event_contact_days d USING deleted_contacts c WHERE d.project_id = c.project_id AND d.contact_id = c.id;
  RETURN NULL;
END $$;
CREATE TRIGGER delete_custom_events AFTER DELETE ON contacts
  REFERENCING OLD TABLE AS deleted_contacts FOR EACH STATEMENT EXECUTE FUNCTION delete_custom_events_of_contacts();

CREATE FUNCTION delete_custom_events_of_project() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM custom_events WHERE project_id = OLD.id;
  DELETE FROM custom_event_contact_days WHERE project_id = OLD.id;
  DELETE FROM custom_event_days WHERE project_id = OLD.id;
  DELETE FROM custom_event_keys WHERE project_id = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER delete_custom_events AFTER DELETE ON projects FOR EACH ROW EXECUTE FUNCTION delete_custom_events_of_project();
