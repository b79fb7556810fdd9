import { type Prisma, secretColumn } from '@postroom/platform';

/** What an account signs in with, as it is encrypted at rest. */
export type StoredCredentials = { password: string } | OAuthCredentials;

export interface OAuthCredentials {
  clientId: string;
  /** '' for a client that has none. */
  clientSecret: string;
  refreshToken?: string | undefined;
  accessToken?: string | undefined;
  /** Of the access token, in milliseconds since 1970. */
  expiresAt?: number | undefined;
}

const sealing = secretColumn('mailbox_accounts', 'credentials');

export const sealCredentials = (id: string, credentials: StoredCredentials) =>
  sealing.encrypt(JSON.stringify(credentials), id);

export function openCredentials({
  id,
  credentials,
}: Pick<Prisma.MailboxAccountModel, 'id' | 'credentials'>): StoredCredentials {
  return JSON.parse(sealing.decrypt(credentials, id)) as StoredCredentials;
}
