import { secretColumn } from '@postroom/platform';

/** What a provider is signed in to with, as it is encrypted at rest. */
export const providerCredentials = secretColumn('mail_providers', 'credentials');
