import { normalizeDomain } from '@postroom/domains';
import { db } from '@postroom/platform';
import { signerFor } from './signing.ts';
import { mailboxIdFor } from './sender-status.ts';

const MAY_LACK =
  'a signature that leaves out List-Unsubscribe and List-Unsubscribe-Post, as most do, lets mail programs offer no one-click unsubscribing (RFC 8058)';

/**
 * Why nobody may count on the signature of a campaign's mail to cover its List-Unsubscribe fields: it is made by somebody
 * else. Undefined when it is ours, which covers them, and for domains of development, whose mail stays here.
 */
export async function signatureWarning(projectId: string, fromEmail: string): Promise<string | undefined> {
  if ((await mailboxIdFor(projectId, fromEmail)) !== null) {
    return `is a mailbox account, whose own server signs: ${MAY_LACK}`;
  }
  if ((await signerFor(projectId, fromEmail)) !== undefined) return undefined;
  const domain = normalizeDomain(fromEmail.slice(fromEmail.lastIndexOf('@') + 1));
  const keys = await db.dkimKey.count({ where: { domain: { projectId, domain } } });
  return keys === 0
    ? undefined
    : `has a domain whose DKIM key is not published, so that only the relay or provider signs: ${MAY_LACK}`;
}
