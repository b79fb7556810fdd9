import { type Prisma, secretColumn } from '@postroom/platform';

/** An account's credentials, encrypted at rest. */
export type StoredCredentials = { password: string } | OAuthCredentials;

export interface OAuthCredentials {
  clientId: string;
  /** '' for a public client. */
  clientSecret: string;
  refreshToken?: string | undefined;
  accessToken?: string | undefined;
  /** Expiry of the access token, in Unix milliseconds. */
  expiresAt?: number | undefined;
}

const column = secretColumn('mailbox_accounts', 'credentials');

export const sealCredentials = (id: string, credentials: StoredCredentials) =>
  column.encrypt(JSON.stringify(credentials), id);

export function openCredentials({
  id,
  credentials,
}: Pick<Prisma.MailboxAccountModel, 'id' | 'credentials'>): StoredCredentials {
  return JSON.parse(column.decrypt(credentials, id)) as StoredCredentials;
}
