/** A mail as the inbox lists it. */
interface Mail {
  id: string;
  recipient: string;
  messageId: string | null;
}

export interface InboxCount {
  mails: number;
  recipients: Set<string>;
  /** Mails after the first to the same recipient, or with the same Message-ID. */
  duplicates: number;
}

/** Reads every mail of the campaign from the inbox, which knows no campaigns and so shows what was really sent. */
export async function countInbox(inboxUrl: string, search: string): Promise<InboxCount> {
  const recipients = new Set<string>();
  const messageIds = new Set<string | null>();
  let mails = 0;
  let before: string | null = null;
  do {
    const query = new URLSearchParams({ search, limit: '1000', ...(before !== null && { before }) });
    const response = await fetch(`${inboxUrl}/api/mails?${query}`);
    const page = (await response.json()) as { data: Mail[]; next_cursor: string | null };
    for (const mail of page.data) {
      recipients.add(mail.recipient);
      messageIds.add(mail.messageId ?? mail.id);
    }
    mails += page.data.length;
    before = page.next_cursor;
  } while (before !== null);
  return { mails, recipients, duplicates: mails - Math.min(recipients.size, messageIds.size) };
}

interface Execution {
  execution: { workflowId: string; runId: string };
  type: { name: string };
}

/** The address of a workflow in the Temporal UI. */
export const workflowLink = (uiUrl: string, { workflowId, runId }: { workflowId: string; runId?: string }) =>
  `${uiUrl}/namespaces/default/workflows/${workflowId}${runId === undefined ? '' : `/${runId}/history`}`;

/**
 * A workflow that delivered to the endpoint: one with a single delivery if possible, else one of a batch, as used for bursts.
 * `undefined` when the Temporal UI doesn't say.
 */
export async function deliveryWorkflow(uiUrl: string, endpointId: string): Promise<Execution | undefined> {
  const query = encodeURIComponent(`endpointId="${endpointId}"`);
  try {
    const response = await fetch(`${uiUrl}/api/v1/namespaces/default/workflows?query=${query}`, {
      signal: AbortSignal.timeout(10_000),
    });
    const { executions = [] } = (await response.json()) as { executions?: Execution[] };
    return executions.find(({ execution }) => execution.workflowId.startsWith('dlv_')) ?? executions[0];
  } catch {
    return undefined;
  }
}
