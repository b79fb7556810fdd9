import { pool, sql, type Tx } from '@postroom/platform';

/** An address that waits for its confirmation. */
export interface EmailChange {
  email: string;
  expiresAt: Date;
}

/** Identifies the pending change of a user's address. There is at most one: a new request replaces an earlier one. */
export const emailChangeOf = (userId: string) => `email-change:${userId}`;

/** The value is the hash of the mailed token, a space, and the address. */
export const pendingValue = (tokenHash: string, email: string) => `${tokenHash} ${email}`;
export const addressIn = (value: string) => value.slice(value.indexOf(' ') + 1);

/** The address that a user has asked for and not confirmed yet. */
export async function findEmailChange(userId: string): Promise<EmailChange | undefined> {
  const [pending] = await sql<{ value: string; expiresAt: Date }>(
    pool,
    `SELECT value, expires_at AS "expiresAt" FROM verifications WHERE identifier = $1 AND expires_at > now()
     ORDER BY created_at DESC LIMIT 1`,
    [emailChangeOf(userId)],
  );
  return pending && { email: addressIn(pending.value), expiresAt: pending.expiresAt };
}

/** Ends a user's request for another address, if there is one. */
export async function cancelEmailChange(userId: string, tx: Tx = pool): Promise<void> {
  await sql(tx, 'DELETE FROM verifications WHERE identifier = $1', [emailChangeOf(userId)]);
}
