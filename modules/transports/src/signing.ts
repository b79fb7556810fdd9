import { LRUCache } from 'lru-cache';
import { type DkimSigner, type Sender, senderFor, signMessage } from '@postroom/domains';
import type { SmtpMessage } from '@postroom/smtp';

const senders = new LRUCache<string, Sender, { projectId: string; fromEmail: string }>({
  max: 1_000,
  ttl: 5_000,
  ignoreFetchAbort: true,
  fetchMethod: (_key, _stale, { context: { projectId, fromEmail } }) => senderFor(projectId, fromEmail),
});

/** Signing key and MAIL FROM domain of a sender, cached for five seconds so that a removed key soon stops signing. */
export function senderOf(projectId: string, fromEmail: string): Promise<Sender> {
  return senders.forceFetch(`${projectId} ${fromEmail}`, { context: { projectId, fromEmail } });
}

/** The DKIM signer for mail from an address; undefined if there is none. */
export async function signerFor(projectId: string, fromEmail: string): Promise<DkimSigner | undefined> {
  return (await senderOf(projectId, fromEmail)).dkim;
}

/** Headers that Amazon SES rewrites, which would break a signature over them. */
const REWRITTEN_HEADERS = ['date', 'message-id'];

/** Prepends a DKIM signature. Data that needs no dot-stuffing stays that way, since no signature line starts with a dot. */
export async function addDkimSignature<Message extends SmtpMessage>(
  message: Message,
  signer: DkimSigner,
  signing: 'whole' | 'without date and id' = 'whole',
): Promise<Message> {
  const { data, stuffed } = message;
  const bytes = typeof data === 'string' ? Buffer.from(data, stuffed === true ? 'latin1' : 'utf8') : Buffer.from(data);
  const withSignature = await signMessage(
    bytes,
    signing === 'whole' ? signer : { ...signer, without: REWRITTEN_HEADERS },
  );
  return { ...message, data: stuffed === true ? withSignature.toString('latin1') : withSignature };
}
