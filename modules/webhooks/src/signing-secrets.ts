import { secretColumn } from '@postroom/platform';

/** The secret that signs an endpoint's deliveries. */
export const signingSecret = secretColumn('webhook_endpoints', 'secret');

/** The secret before the last rotation: the same envelope, moved to another column. */
secretColumn('webhook_endpoints', 'previous_secret');
