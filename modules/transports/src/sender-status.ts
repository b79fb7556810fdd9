import { senderProblem } from '@postroom/domains';
import { emailKey, pool, coalesceReads } from '@postroom/platform';

interface Account {
  id: string;
  status: 'connected' | 'needs_attention';
  reason: string | null;
}

/** Keyed by `<project id> <email key>`. Every email needs this, so concurrent reads are coalesced into one query. */
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

/** The mailbox account of an address, once connected. */
const accountOf = (projectId: string, fromEmail: string) => findAccount(`${projectId} ${emailKey(fromEmail)}`);

/** Whether a sender may send, and through which mailbox account. */
export interface SenderStatus {
  /** Why it may not send now; undefined if it may. */
  problem: string | undefined;
  /** The mailbox account that sends its mail; null for any other transport. */
  mailboxId: string | null;
}

/**
 * Checks whether a sender may send now. A connected mailbox proves ownership of its address, so its domain need not be
 * verified in the project.
 */
export async function senderStatus(projectId: string, fromEmail: string): Promise<SenderStatus> {
  const [account, domainProblem] = await Promise.all([
    accountOf(projectId, fromEmail),
    senderProblem(projectId, fromEmail),
  ]);
  if (account === undefined) return { problem: domainProblem, mailboxId: null };
  const reason = account.reason ?? 'it could not sign in';
  return {
    problem: account.status === 'connected' ? undefined : `The mailbox account ${fromEmail} needs attention: ${reason}`,
    mailboxId: account.id,
  };
}

/** The mailbox account that sends mail from an address; null for any other transport. */
export async function mailboxIdFor(projectId: string, fromEmail: string): Promise<string | null> {
  return (await accountOf(projectId, fromEmail))?.id ?? null;
}

/** Why mail from an address may not be sent now; undefined if it may. */
export async function sendingProblem(projectId: string, fromEmail: string): Promise<string | undefined> {
  return (await senderStatus(projectId, fromEmail)).problem;
}
