import { secretColumn } from '@postroom/platform';

/** A provider's credentials, encrypted at rest. */
export const providerCredentials = secretColumn('mail_providers', 'credentials');
