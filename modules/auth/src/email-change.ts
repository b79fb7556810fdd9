import {
  config,
  databaseNow,
  db,
  DomainError,
  emailKey,
  emailProblem,
  inTransaction,
  invalid,
  logger,
  newId,
  pool,
  RateLimited,
  sql,
  type Tx,
} from '@postroom/platform';
import { auth } from './auth.ts';
import { countFailure, forgetFailures, guessingKey } from './guessing.ts';
import { hashToken, newToken } from './mailed-token.ts';
import { addressIn, cancelEmailChange, type EmailChange, emailChangeOf, pendingValue } from './pending-email.ts';
import { changeAddress, informOtherCells } from './profiles.ts';
import { canSendSystemMail, sendSystemMail } from './system-mail.ts';

/** How long the link in the mail to the new address works, in milliseconds. */
const VALID_MS = 3_600_000;
/** A user without a password proves who they are by having signed in within this time. */
const RECENT_MINUTES = 15;
/** Each request sends a mail to an address that the user chooses. */
const MAX_REQUESTS_PER_HOUR = 5;
const HOUR_MS = 3_600_000;

/**
 * Mails a link to the address that a user wants to sign in with, and tells the current address. What the caller learns does not
 * depend on whether the address has an account; if it does, the mail says so instead of having a link.
 * @throws DomainError `validation_error`, `rate_limited`, or `conflict` without a recent proof of who it is or if the mail can't be sent.
 */
export async function requestEmailChange({
  userId,
  sessionId,
  email,
  password,
}: {
  userId: string;
  sessionId: string;
  email: string;
  password?: string | null | undefined;
}): Promise<EmailChange> {
  const address = emailKey(email);
  const problem = emailProblem(email.trim());
  if (problem !== undefined) throw invalid({ field: 'email', message: problem });
  const user = await db.user.findUniqueOrThrow({ where: { id: userId } });
  if (address === user.email) throw invalid({ field: 'email', message: 'is your address already' });
  if (!canSendSystemMail())
    throw new DomainError(
      'conflict',
      'A new address is confirmed by email, and this installation has no mail server for that. Set SMTP_URL and SYSTEM_MAIL_FROM, restart, and try again.',
    );
  const hash = await proveIdentity({ ...user, sessionId, password });
  await countRequest(userId);
  const token = newToken();
  const change = { email: address, expiresAt: new Date(databaseNow() + VALID_MS) };
  await inTransaction(async (tx) => {
    await assertPasswordStays(tx, userId, hash);
    await cancelEmailChange(userId, tx);
    await sql(tx, 'INSERT INTO verifications (id, identifier, value, expires_at) VALUES ($1, $2, $3, $4)', [
      newId('ses'),
      emailChangeOf(userId),
      pendingValue(hashToken(token), address),
      change.expiresAt,
    ]);
  });
  await sendLink(user.email, address, token).catch(async (error: unknown) => {
    logger.error({ err: error }, 'could not send the mail that confirms an address; check SMTP_URL');
    await cancelEmailChange(userId);
    throw new DomainError(
      'conflict',
      `The mail server rejected the mail to ${address}, so your address stays as it is. The log has the reason.`,
    );
  });
  tell(
    user.email,
    'Someone asked to change the email address of your Postroom account',
    `Someone asked to sign in to your Postroom account with ${address} instead of this address. It changes when they confirm it with a link that we sent there.\n\nIf it wasn't you, choose a new password now, which also signs out all sessions and ends the request:\n${config.PUBLIC_URL}/reset-password`,
  );
  return change;
}

async function sendLink(from: string, to: string, token: string): Promise<void> {
  const isTaken = (await db.user.count({ where: { email: to } })) > 0;
  await sendSystemMail(
    isTaken
      ? {
          to,
          subject: 'Your address already has a Postroom account',
          text: `The user of ${from} wants to sign in to Postroom with this address, but it has an account already, so nothing changes.\n\nSign in with it here:\n${config.PUBLIC_URL}/sign-in\n\nIf it wasn't you, ignore this email.`,
        }
      : {
          to,
          subject: 'Confirm your new email address',
          text: `The user of ${from} wants to sign in to Postroom with this address.\n\nConfirm it within an hour, signed in to that account:\n${config.PUBLIC_URL}/confirm-email?token=${token}\n\nIf it wasn't you, ignore this email: nothing changes without your confirmation.`,
        },
  );
}

/**
 * Anyone who finds an unlocked browser must not take the account over by another address.
 * @returns the hash of the password; undefined if the user has none.
 */
async function proveIdentity({
  id,
  email,
  sessionId,
  password,
}: {
  id: string;
  email: string;
  sessionId: string;
  password?: string | null | undefined;
}): Promise<string | undefined> {
  const hash = await passwordHashOf(pool, id);
  if (hash === undefined) {
    const recent = await sql(
      pool,
      `SELECT FROM sessions WHERE id = $1 AND user_id = $2 AND created_at > now() - make_interval(mins => $3)`,
      [sessionId, id, RECENT_MINUTES],
    );
    if (recent.length > 0) return undefined;
    throw new DomainError(
      'conflict',
      `You have no password to confirm this with, and signed in more than ${RECENT_MINUTES} minutes ago. Sign out, sign in again, and repeat it.`,
    );
  }
  if (password == null || password === '') throw invalid({ field: 'password', message: 'is required' });
  // Counted by session: the guesses of others must not keep a user from it.
  const key = guessingKey(email, sessionId);
  const waitSeconds = await countFailure(key);
  if (waitSeconds !== undefined)
    throw new RateLimited('Too many wrong passwords. Wait a moment, or reset your password.', waitSeconds);
  const { password: passwords } = await auth().$context;
  if (!(await passwords.verify({ hash, password })))
    throw invalid({ field: 'password', message: 'is not your password' });
  await forgetFailures(key);
  return hash;
}

async function passwordHashOf(tx: Tx, userId: string, lock: '' | 'FOR SHARE' = ''): Promise<string | undefined> {
  const [account] = await sql<{ password: string }>(
    tx,
    `SELECT password FROM accounts WHERE user_id = $1 AND provider_id = 'credential' AND password IS NOT NULL ${lock}`,
    [userId],
  );
  return account?.password;
}

/** A password that was changed, or removed because the account was linked to the provider, ends what the old one allowed. */
async function assertPasswordStays(tx: Tx, userId: string, hash: string | undefined): Promise<void> {
  if ((await passwordHashOf(tx, userId, 'FOR SHARE')) !== hash)
    throw new DomainError('conflict', 'How you sign in has just changed. Sign in again, and repeat it.');
}

/** Counts as the sign-in library counts its own requests. @throws RateLimited */
async function countRequest(userId: string): Promise<void> {
  const now = databaseNow();
  const counted = await sql(
    pool,
    `INSERT INTO sign_in_rates AS r (id, key, count, last_request) VALUES ($1, $2, 1, $3)
     ON CONFLICT (key) DO UPDATE SET last_request = $3, count = CASE WHEN r.last_request < $4 THEN 1 ELSE r.count + 1 END
     WHERE r.last_request < $4 OR r.count < $5 RETURNING r.id`,
    [newId('ses'), emailChangeOf(userId), now, now - HOUR_MS, MAX_REQUESTS_PER_HOUR],
  );
  if (counted.length === 0)
    throw new RateLimited(
      `You asked for ${MAX_REQUESTS_PER_HOUR} changes of your address. Try again in an hour.`,
      HOUR_MS / 1000,
    );
}

/**
 * Gives a user the address that they asked for, by the token that was mailed there. Sessions, roles and the ways to sign in stay;
 * pending invitations follow; password reset links that were sent to the old address end.
 * @throws DomainError `not_found` for an invalid, used or expired token or that of another user, `conflict` if the address has an account.
 */
export async function confirmEmailChange(userId: string, token: string): Promise<void> {
  const change = await inTransaction(async (tx) => {
    const [pending] = await sql<{ value: string }>(
      tx,
      'DELETE FROM verifications WHERE identifier = $1 AND starts_with(value, $2) AND expires_at > now() RETURNING value',
      [emailChangeOf(userId), hashToken(token)],
    );
    if (pending === undefined)
      throw new DomainError(
        'not_found',
        'This link has expired, was already used, or was sent for another account. Change your address again on the page of your account.',
      );
    await sql(tx, `DELETE FROM verifications WHERE value = $1 AND starts_with(identifier, 'reset-password:')`, [
      userId,
    ]);
    return changeAddress(tx, { id: userId, email: addressIn(pending.value) });
  });
  if (change === undefined) return;
  await informOtherCells(userId);
  tell(
    change.before,
    'The email address of your Postroom account was changed',
    `You now sign in to Postroom with ${change.after} instead of this address.\n\nIf it wasn't you, ask an owner of your projects now to remove that user, and to invite you again.`,
  );
}

/** Tells a user something. The mail is not waited for. */
function tell(to: string, subject: string, text: string): void {
  sendSystemMail({ to, subject, text }).catch((error: unknown) =>
    logger.warn({ err: error }, 'could not send the notice of a change of address'),
  );
}
