import { createHash, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { relaxedBody, relaxedField, splitMessage } from './canonical.ts';
import { keyObject } from './key-objects.ts';

/** What a message is signed with. */
export interface DkimSigner {
  domain: string;
  selector: string;
  /** A key, or PKCS #8 in PEM. */
  privateKey: KeyObject | string;
  /** Names of fields, in lower case, that are not signed, because whoever takes the message writes them anew. */
  without?: readonly string[] | undefined;
}

/**
 * Fields that are signed once more than they are present, so that nobody can add another on the way (RFC 6376 §5.4.2).
 * One-click unsubscribing needs both of its fields signed (RFC 8058 §4).
 */
const OVERSIGNED = [
  'from',
  'to',
  'cc',
  'subject',
  'date',
  'reply-to',
  'content-type',
  'list-unsubscribe',
  'list-unsubscribe-post',
];

/** Fields that are signed when they are present. */
const SIGNED = [
  'message-id',
  'mime-version',
  'content-transfer-encoding',
  'in-reply-to',
  'references',
  'list-id',
  'feedback-id',
  'auto-submitted',
];

const signByThread = promisify(sign);

/** The message with a DKIM-Signature field before it. */
export async function signMessage(message: Buffer, signer: DkimSigner, now = new Date()): Promise<Buffer> {
  return Buffer.concat([await dkimField(message, signer, now), message]);
}

/**
 * The DKIM-Signature field of a message, CRLF included: rsa-sha256, relaxed/relaxed, over the whole body (RFC 6376).
 * For 2.7 KB it takes a quarter of a millisecond of CPU, nearly all of it the RSA operation (AMD EPYC, Node 24), which a thread
 * of Node's pool does meanwhile.
 */
export async function dkimField(message: Buffer, signer: DkimSigner, now = new Date()): Promise<Buffer> {
  const { domain, selector, privateKey, without = [] } = signer;
  const { fields, body } = splitMessage(message);
  const { names, signed } = selectFields(fields, without);
  const bodyHash = createHash('sha256').update(relaxedBody(body)).digest('base64');
  const unsigned = [
    'DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed;',
    `d=${domain}; s=${selector};`,
    `t=${Math.floor(now.getTime() / 1000)};`,
    `h=${fold(names.join(':').match(/[^:]+:?/g) ?? [])};`,
    `bh=${bodyHash};`,
    'b=',
  ].join('\r\n\t');
  const input = Buffer.from(
    `${signed.map((field) => `${relaxedField(field)}\r\n`).join('')}${relaxedField(unsigned)}`,
    'latin1',
  );
  const key = typeof privateKey === 'string' ? keyObject(privateKey) : privateKey;
  const signature = (await signByThread('sha256', input, key)).toString('base64');
  return Buffer.from(`${unsigned}${fold(signature.match(/.{1,72}/g) ?? [])}\r\n`, 'latin1');
}

/** The fields to sign and their names as `h=` lists them; of several with one name, the last comes first (§5.4.2). */
function selectFields(fields: readonly string[], without: readonly string[]): { names: string[]; signed: string[] } {
  const byName = new Map<string, string[]>();
  for (const field of fields) {
    const name = field.slice(0, field.indexOf(':')).trim().toLowerCase();
    byName.set(name, [field, ...(byName.get(name) ?? [])]);
  }
  if (!byName.has('from')) throw new Error('A message without a From field can not be signed.');
  const names: string[] = [];
  const signed: string[] = [];
  const add = (name: string, once: number) => {
    if (without.includes(name)) return;
    const present = byName.get(name) ?? [];
    signed.push(...present);
    names.push(...Array<string>(present.length + once).fill(name));
  };
  for (const name of OVERSIGNED) add(name, 1);
  for (const name of SIGNED) add(name, 0);
  return { names, signed };
}

/** Lines of at most 76 characters; white space between the parts means nothing to their reader. */
function fold(parts: readonly string[]): string {
  const lines = [''];
  for (const part of parts) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + part.length > 72) lines.push(part);
    else lines[lines.length - 1] = line + part;
  }
  return lines.join('\r\n\t');
}
