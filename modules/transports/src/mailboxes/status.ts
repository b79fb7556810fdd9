import { pool } from '@postroom/platform';

/** Records that an account can send. */
export async function recordConnected(id: string): Promise<void> {
  await pool.query(
    `UPDATE mailbox_accounts SET status = 'connected', status_reason = NULL, checked_at = now() WHERE id = $1`,
    [id],
  );
}

/** Records why an account can't send until a user fixes it. */
export async function recordNeedsAttention(id: string, reason: string): Promise<void> {
  await pool.query(
    `UPDATE mailbox_accounts SET status = 'needs_attention', status_reason = $2, checked_at = now() WHERE id = $1`,
    [id, reason],
  );
}

/** Advice for common failures whose messages don't say what to do. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [
    /5\.7\.139|SmtpClientAuthentication is disabled/i,
    'Allow "Authenticated SMTP" for this mailbox in the Microsoft 365 admin centre.',
  ],
  [/5\.7\.30\b|basic authentication/i, 'Microsoft no longer accepts passwords here: connect the account with OAuth2.'],
  [/5\.7\.9\b|application-specific password/i, 'Google requires an app password or OAuth2.'],
  [/5\.7\.8\b|username and password not accepted/i, 'Google accepts only app passwords or OAuth2.'],
];

/** Appends advice to a failure, if there is any. */
export function withAdvice(answer: string): string {
  const hint = HINTS.find(([pattern]) => pattern.test(answer))?.[1];
  return hint === undefined ? answer : `${answer.replace(/[.\s]+$/, '')}. ${hint}`;
}
