import { coalesceReads, emailDomain, pool } from '@postroom/platform';
import { readDkimKey } from './dkim/keys.ts';
import type { DkimSigner } from './dkim/sign.ts';

interface SenderStatus {
  project_id: string;
  domain: string;
  blocked: boolean;
  verification: string;
  verifiedForSending: boolean;
}

/**
 * Keyed by project id and name, separated by a space. Every email needs this, so concurrent reads are coalesced into
 * one prepared statement.
 */
const findStatus = coalesceReads<SenderStatus>(async (asked) => {
  const pairs = asked.map((pair) => pair.split(' ', 2));
  const { rows } = await pool.query<SenderStatus>({
    name: 'sender-problem',
    text: `SELECT project_id, domain, blocked_at IS NOT NULL AS blocked, verification::text,
        verified_for_sending AS "verifiedForSending"
      FROM unnest($1::text[], $2::text[]) AS asked(project, name)
      JOIN domains ON project_id = asked.project AND domain = asked.name`,
    values: [pairs.map(([project]) => project), pairs.map(([, name]) => name)],
  });
  return new Map(rows.map((row) => [`${row.project_id} ${row.domain}`, row]));
});

/**
 * The reason why an address may not send now; undefined if it may. Checked at every send, because a verified domain
 * may have lost its records (spec: Campaign).
 */
export async function senderProblem(projectId: string, fromEmail: string): Promise<string | undefined> {
  const name = emailDomain(fromEmail);
  const domain = await findStatus(`${projectId} ${name}`);
  if (domain === undefined) return `The domain ${name} is not a sending domain of this project.`;
  if (domain.blocked) return `The domain ${name} has been blocked.`;
  if (domain.verification === 'failed') return `The domain ${name} is no longer verified: its DNS records are missing.`;
  if (!domain.verifiedForSending) return `The domain ${name} is not verified for sending.`;
  return undefined;
}

/** The setup for sending from an address. */
export interface Sender {
  /** The DKIM signer; `undefined` while the key is not published, and for development domains. */
  dkim: DkimSigner | undefined;
  /** The envelope sender's domain; `undefined` if it is not set up and the From domain is used. */
  mailFromDomain: string | undefined;
  /** The host for tracking links; `undefined` if the gateway's own host is used. */
  trackingDomain: string | undefined;
}

interface SenderRow {
  id: string;
  domain: string;
  dkim: string;
  mailFrom: string;
  mailFromDomain: string | null;
  tracking: string;
  trackingDomain: string | null;
  selector: string | null;
  privateKey: string | null;
}

/**
 * Returns the current setup for sending from an address. Reads the domain each time, but parses its key once per
 * process. Uses a prepared statement, because Prisma's first query in a process takes about 300 ms and delays the
 * mail.
 */
export async function senderFor(projectId: string, fromEmail: string): Promise<Sender> {
  const { rows } = await pool.query<SenderRow>({
    name: 'sender-for',
    text: `SELECT d.id, d.domain, d.dkim::text, d.mail_from::text AS "mailFrom", d.mail_from_domain AS "mailFromDomain",
        d.tracking::text, d.tracking_domain AS "trackingDomain", k.selector, k.private_key AS "privateKey"
      FROM domains d LEFT JOIN LATERAL (
        SELECT selector, private_key FROM dkim_keys WHERE domain_id = d.id ORDER BY created_at DESC LIMIT 1
      ) AS k ON true
      WHERE d.project_id = $1 AND d.domain = $2`,
    values: [projectId, emailDomain(fromEmail)],
  });
  const [domain] = rows;
  if (domain === undefined) return { dkim: undefined, mailFromDomain: undefined, trackingDomain: undefined };
  const { selector, privateKey } = domain;
  const isPublished = (status: string) => status === 'verified' || status === 'failing';
  return {
    // A signature whose key receivers cannot find is worse than none.
    dkim:
      selector === null || privateKey === null || !isPublished(domain.dkim)
        ? undefined
        : { domain: domain.domain, selector, privateKey: readDkimKey(domain.id, { selector, privateKey }) },
    mailFromDomain: domain.mailFromDomain !== null && isPublished(domain.mailFrom) ? domain.mailFromDomain : undefined,
    // A dead link is worse than one with another name, so a host in its grace period is not used.
    trackingDomain: domain.tracking === 'verified' ? (domain.trackingDomain ?? undefined) : undefined,
  };
}

/** What mail from this address is signed with; `undefined` when it is not to be signed. */
export async function dkimFor(projectId: string, fromEmail: string): Promise<DkimSigner | undefined> {
  return (await senderFor(projectId, fromEmail)).dkim;
}
