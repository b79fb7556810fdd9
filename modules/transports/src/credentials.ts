import { secretColumn } from '@postroom/platform';

/** A provider's credentials, encrypted at rest. */
export const providerCredentials = secretColumn('mail_providers', 'credentials');

/** The problem with a field whose stored value can't be decrypted. */
export const UNREADABLE = 'is required: the stored one was encrypted with a key that this installation does not have';

/** What `read` decrypts; `undefined` if no configured key can, so that a user who lost the key can enter it again. */
export function ifReadable<Credentials>(read: () => Credentials): Credentials | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
