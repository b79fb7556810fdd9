import { senderProblem } from '@postroom/domains';
import { emailKey, pool, coalesceReads } from '@postroom/platform';

interface Account {
  id: string;
  status: 'connected' | 'needs_attention';
  reason: string | null;
}

/** By the project's id and the key of the address, with a space between. Each email asks this: one statement for all at once. */
const findAccount = coalesceReads<Account>(async (asked) => {
  const pairs = asked.map((pair) => [pair.slice(0, pair.indexOf(' ')), pair.slice(pair.indexOf(' ') + 1)] as const);
  const { rows } = await pool.query<Account & { project_id: string; email_key: string }>({
    name: 'sender-mailbox',
    text: `SELECT project_id, email_key, id, status::text, status_reason AS reason
      FROM unnest($1::text[], $2::text[]) AS asked(project, key)
      JOIN mailbox_accounts ON project_id = asked.project AND email_key = asked.key
      WHERE status <> 'connecting'`,
    values: [pairs.map(([project]) => project), pairs.map(([, key]) => key)],
  });
  return new Map(rows.map((row) => [`${row.project_id} ${row.email_key}`, row]));
});

/** The mailbox account that an address belongs to, once it has been connected. */
const accountOf = (projectId: string, fromEmail: string) => findAccount(`${projectId} ${emailKey(fromEmail)}`);

/** What mail from an address may do, and by whom it goes. */
export interface SenderStatus {
  /** Why it may not be sent now; undefined when it may. */
  problem: string | undefined;
  /** The mailbox account that it goes out by; null when it goes another way. */
  mailboxId: string | null;
}

/**
 * What mail from an address may do now. Whoever signs in to a mailbox has proved that its address is theirs, so its domain
 * need not be one of the project's.
 */
export async function senderStatus(projectId: string, fromEmail: string): Promise<SenderStatus> {
  const [account, ofDomain] = await Promise.all([accountOf(projectId, fromEmail), senderProblem(projectId, fromEmail)]);
  if (account === undefined) return { problem: ofDomain, mailboxId: null };
  const reason = account.reason ?? 'it could not sign in';
  return {
    problem: account.status === 'connected' ? undefined : `The mailbox account ${fromEmail} needs attention: ${reason}`,
    mailboxId: account.id,
  };
}

/** The mailbox account that mail from an address goes out by; null when it goes another way. */
export async function mailboxIdFor(projectId: string, fromEmail: string): Promise<string | null> {
  return (await accountOf(projectId, fromEmail))?.id ?? null;
}

/** Why mail from an address may not be sent now; undefined when it may. */
export async function sendingProblem(projectId: string, fromEmail: string): Promise<string | undefined> {
  return (await senderStatus(projectId, fromEmail)).problem;
}
