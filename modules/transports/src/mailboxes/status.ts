import { pool } from '@postroom/platform';

/** Writes down that an account can send again. */
export async function noteConnected(id: string): Promise<void> {
  await pool.query(
    `UPDATE mailbox_accounts SET status = 'connected', status_reason = NULL, checked_at = now() WHERE id = $1`,
    [id],
  );
}

/** Writes down why an account can not send until somebody does something about it. */
export async function noteTrouble(id: string, reason: string): Promise<void> {
  await pool.query(
    `UPDATE mailbox_accounts SET status = 'needs_attention', status_reason = $2, checked_at = now() WHERE id = $1`,
    [id, reason],
  );
}

/** What to do about refusals that people meet, where the words of the server do not say it. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [/\bENOTFOUND\b/, 'No host has this name: is it spelled right?'],
  [/\bECONNREFUSED\b/, 'The host is there, but takes no mail at this port.'],
  [/\bETIMEDOUT\b/, 'Nothing answers there: a firewall may be in between.'],
  [
    /5\.7\.139|SmtpClientAuthentication is disabled/i,
    'Allow "Authenticated SMTP" for this mailbox in the Microsoft 365 admin centre.',
  ],
  [/5\.7\.30\b|basic authentication/i, 'Microsoft takes no passwords here any more: connect the account with OAuth2.'],
  [/5\.7\.9\b|application-specific password/i, 'Google wants an app password, or OAuth2.'],
  [/5\.7\.8\b|username and password not accepted/i, 'Google takes app passwords only, or OAuth2.'],
];

/** A refusal, and what to do about it if we know. */
export function explained(answer: string): string {
  const hint = HINTS.find(([pattern]) => pattern.test(answer))?.[1];
  return hint === undefined ? answer : `${answer} ${hint}`;
}
