ALTER TYPE notification_kind ADD VALUE 'journey_paused';
ALTER TYPE notification_kind ADD VALUE 'journey_step';
