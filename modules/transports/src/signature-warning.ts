import { db, emailDomain } from '@postroom/platform';
import { signerFor } from './signing.ts';
import { mailboxIdFor } from './sender-status.ts';

const CONSEQUENCE =
  'a signature that leaves out List-Unsubscribe and List-Unsubscribe-Post, as most do, lets mail programs offer no one-click unsubscribing (RFC 8058)';

/**
 * Warns if a campaign's DKIM signature may not cover its List-Unsubscribe headers because we don't create it. Undefined if we
 * sign, and for development domains, whose mail is never delivered externally.
 */
export async function signatureWarning(projectId: string, fromEmail: string): Promise<string | undefined> {
  if ((await mailboxIdFor(projectId, fromEmail)) !== null) {
    return `is a mailbox account, whose own server signs: ${CONSEQUENCE}`;
  }
  if ((await signerFor(projectId, fromEmail)) !== undefined) return undefined;
  const domain = emailDomain(fromEmail);
  const keys = await db.dkimKey.count({ where: { domain: { projectId, domain } } });
  return keys === 0
    ? undefined
    : `has a domain whose DKIM key is not published, so that only the relay or provider signs: ${CONSEQUENCE}`;
}
