import { secretColumn } from '@postroom/platform';

/** What an endpoint's deliveries are signed with. */
export const signingSecret = secretColumn('webhook_endpoints', 'secret');

/** What they were signed with before the last rotation: the same envelope, moved to another column. */
export const previousSigningSecret = secretColumn('webhook_endpoints', 'previous_secret');
