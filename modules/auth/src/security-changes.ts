import { audit, config, inTransaction, logger, sql } from '@postroom/platform';
import { sendSystemMail } from './system-mail.ts';

/** What the user is told about each change, by its action in the audit log. */
const NOTICES = {
  changePassword: 'The password of your Postroom account was changed',
  resetPassword: 'The password of your Postroom account was reset with a link from an email',
  enableTwoFactor: 'Two-factor authentication was turned on for your Postroom account',
  disableTwoFactor: 'Two-factor authentication was turned off for your Postroom account',
  generateBackupCodes: 'New backup codes were generated for your Postroom account',
  linkProvider: 'Your Postroom account was linked to a sign-in provider',
} as const;

type SecurityAction = keyof typeof NOTICES;

/** The endpoints of the sign-in library that change how a user signs in. */
const ACTIONS: Record<string, SecurityAction> = {
  '/change-password': 'changePassword',
  '/reset-password': 'resetPassword',
  '/two-factor/verify-totp': 'enableTwoFactor',
  '/two-factor/disable': 'disableTwoFactor',
  '/two-factor/generate-backup-codes': 'generateBackupCodes',
};

export const actionAt = (path: string): SecurityAction | undefined => ACTIONS[path];

export interface SecurityChange {
  action: SecurityAction;
  user: { id: string; name: string; email: string };
}

/**
 * Records a change of how a user signs in, in the audit log of each of their projects, and tells the user by mail: it may have been made by
 * someone else. The mail is not waited for.
 */
export async function recordSecurityChange({ action, user }: SecurityChange): Promise<void> {
  await inTransaction(async (tx) => {
    const projects = await sql<{ id: string }>(
      tx,
      'SELECT project_id AS id FROM members WHERE user_id = $1 ORDER BY project_id',
      [user.id],
    );
    for (const { id: projectId } of projects)
      await audit(tx, { projectId, actorId: user.id, action, targetId: user.id, targetName: user.name });
  });
  const notice = NOTICES[action];
  sendSystemMail({
    to: user.email,
    subject: notice,
    text: `${notice}.\n\nIf it wasn't you, choose a new password now, which also signs out all sessions:\n${config.PUBLIC_URL}/reset-password`,
  }).catch((error: unknown) => logger.warn({ err: error, action }, 'could not send the notice of an account change'));
}
