import { type DkimSigner, type Sender, senderFor, signMessage } from '@postroom/domains';
import type { SmtpMessage } from '@postroom/smtp';

/** How long a domain is taken as it was read, in milliseconds. */
const FRESH_MS = 5_000;
const MAX_SENDERS = 1_000;

const senders = new Map<string, { readAt: number; sender: Promise<Sender> }>();

/** How mail from an address goes out; read again after five seconds, so that a key that was lost stops signing. */
export function senderOf(projectId: string, fromEmail: string): Promise<Sender> {
  const key = `${projectId} ${fromEmail}`;
  const known = senders.get(key);
  if (known !== undefined && Date.now() - known.readAt < FRESH_MS) return known.sender;
  if (senders.size >= MAX_SENDERS) senders.clear();
  const sender = senderFor(projectId, fromEmail);
  senders.set(key, { readAt: Date.now(), sender });
  // A look-up that failed is not kept: the next message asks again.
  sender.catch(() => senders.delete(key));
  return sender;
}

/** What mail from an address is signed with. */
export async function signerFor(projectId: string, fromEmail: string): Promise<DkimSigner | undefined> {
  return (await senderOf(projectId, fromEmail)).dkim;
}

/** What Amazon SES writes anew, so that a signature over it would break. */
const REWRITTEN = ['date', 'message-id'];

/**
 * The message with the signature of its sender's domain before it. Text that is ready for the wire stays so: its dots are
 * doubled nowhere, since no line that we write begins with one.
 */
export async function signed<Message extends SmtpMessage>(
  message: Message,
  signer: DkimSigner,
  signing: 'whole' | 'without date and id' = 'whole',
): Promise<Message> {
  const { data, stuffed } = message;
  const bytes = typeof data === 'string' ? Buffer.from(data, stuffed === true ? 'latin1' : 'utf8') : Buffer.from(data);
  const withSignature = await signMessage(bytes, signing === 'whole' ? signer : { ...signer, without: REWRITTEN });
  return { ...message, data: stuffed === true ? withSignature.toString('latin1') : withSignature };
}
