import { secretColumn } from '@postroom/platform';

/** A provider's credentials, encrypted at rest. */
export const providerCredentials = secretColumn('mail_providers', 'credentials');

/** The problem with a field whose stored value can't be decrypted. */
export const UNREADABLE = 'is required: the stored one was encrypted with a key that this installation does not have';

/** What to do about credentials that can't be decrypted. */
export const ENTER_AGAIN = 'Enter the credentials again.';
