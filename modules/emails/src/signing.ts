import { dkimFor, type DkimSigner, signMessage } from '@postroom/domains';
import type { SmtpMessage } from './smtp/index.ts';

/** How long a domain's key is taken as it was read, in milliseconds. */
const FRESH_MS = 5_000;
const MAX_SIGNERS = 1_000;

const signers = new Map<string, { readAt: number; signer: Promise<DkimSigner | undefined> }>();

/** What mail from an address is signed with; read again after five seconds, so that a key that was lost stops signing. */
export function signerFor(projectId: string, fromEmail: string): Promise<DkimSigner | undefined> {
  const key = `${projectId} ${fromEmail}`;
  const known = signers.get(key);
  if (known !== undefined && Date.now() - known.readAt < FRESH_MS) return known.signer;
  if (signers.size >= MAX_SIGNERS) signers.clear();
  const signer = dkimFor(projectId, fromEmail);
  signers.set(key, { readAt: Date.now(), signer });
  // A look-up that failed is not kept: the next message asks again.
  signer.catch(() => signers.delete(key));
  return signer;
}

/** What Amazon SES writes anew, so that a signature over it would break. */
const REWRITTEN = ['date', 'message-id'];

/**
 * The message with the signature of its sender's domain before it. Text that is ready for the wire stays so: its dots are
 * doubled nowhere, since no line that we write begins with one.
 */
export function signed<Message extends SmtpMessage>(
  message: Message,
  signer: DkimSigner | undefined,
  signing: 'whole' | 'without date and id' = 'whole',
): Message {
  if (signer === undefined) return message;
  const { data, stuffed } = message;
  const bytes = typeof data === 'string' ? Buffer.from(data, stuffed === true ? 'latin1' : 'utf8') : Buffer.from(data);
  const withSignature = signMessage(bytes, signing === 'whole' ? signer : { ...signer, without: REWRITTEN });
  return { ...message, data: stuffed === true ? withSignature.toString('latin1') : withSignature };
}
