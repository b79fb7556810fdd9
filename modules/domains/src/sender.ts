import { pool, coalesceReads } from '@postroom/platform';
import { readDkimKey } from './dkim/keys.ts';
import type { DkimSigner } from './dkim/sign.ts';
import { normalizeDomain } from './domain-name.ts';

interface Standing {
  project_id: string;
  domain: string;
  blocked: boolean;
  verification: string;
  verifiedForSending: boolean;
}

/** By the project's id and the name, with a space between. Each email asks this: one prepared statement for all at once. */
const findStanding = coalesceReads<Standing>(async (asked) => {
  const pairs = asked.map((pair) => pair.split(' ', 2));
  const { rows } = await pool.query<Standing>({
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
 * Why mail from this address may not be sent now; undefined when it may. A domain is asked at each send, since one that
 * was verified may have lost its records (spec: Campaign).
 */
export async function senderProblem(projectId: string, fromEmail: string): Promise<string | undefined> {
  const name = domainOf(fromEmail);
  const domain = await findStanding(`${projectId} ${name}`);
  if (domain === undefined) return `The domain ${name} is not a sending domain of this project.`;
  if (domain.blocked) return `The domain ${name} has been blocked.`;
  if (domain.verification === 'failed')
    return `The domain ${name} is not verified any more: its DNS records are missing.`;
  if (!domain.verifiedForSending) return `The domain ${name} is not verified for sending.`;
  return undefined;
}

/** How mail from an address goes out. */
export interface Sender {
  /** What it is signed with; `undefined` while the key is not published, and for domains of development. */
  dkim: DkimSigner | undefined;
  /** The domain of the envelope sender; `undefined` when it is not set up, and the From domain serves. */
  mailFromDomain: string | undefined;
  /** The host that tracking links begin with; `undefined` when it is the gateway's own, or none that leads here is known. */
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
 * How mail from this address goes out now. The domain is read each time, its key only once a process. A prepared statement,
 * since all mail of a sender waits for it: the first query of Prisma in a process takes a third of a second.
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
    values: [projectId, domainOf(fromEmail)],
  });
  const [domain] = rows;
  if (domain === undefined) return { dkim: undefined, mailFromDomain: undefined, trackingDomain: undefined };
  const { selector, privateKey } = domain;
  const isSeen = (status: string) => status === 'verified' || status === 'failing';
  return {
    // A signature whose key receivers do not find is worse than none.
    dkim:
      selector === null || privateKey === null || !isSeen(domain.dkim)
        ? undefined
        : { domain: domain.domain, selector, privateKey: readDkimKey(domain.id, { selector, privateKey }) },
    mailFromDomain: domain.mailFromDomain !== null && isSeen(domain.mailFrom) ? domain.mailFromDomain : undefined,
    // A link that leads nowhere is worse than one with another name: in its days of grace a host is not used.
    trackingDomain: domain.tracking === 'verified' ? (domain.trackingDomain ?? undefined) : undefined,
  };
}

/** What mail from this address is signed with; `undefined` when it is not to be signed. */
export async function dkimFor(projectId: string, fromEmail: string): Promise<DkimSigner | undefined> {
  return (await senderFor(projectId, fromEmail)).dkim;
}

const domainOf = (email: string) => normalizeDomain(email.slice(email.lastIndexOf('@') + 1));
