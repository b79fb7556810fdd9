import { databaseTime } from '@postroom/clock';
import { createHash, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { relaxedBody, relaxedField, splitMessage } from './canonical.ts';
import { keyObject } from './key-objects.ts';

/** A message's signing key and identity. */
export interface DkimSigner {
  domain: string;
  selector: string;
  /** A key, or PKCS #8 in PEM. */
  privateKey: KeyObject | string;
  /** Lower-case names of fields to leave unsigned, because the receiving server rewrites them. */
  without?: readonly string[] | undefined;
}

/**
 * Fields signed once more than they occur, so that another can't be added in transit (RFC 6376 §5.4.2). One-click
 * unsubscribe needs both of its fields signed (RFC 8058 §4).
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

/** Fields signed if present. */
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

/** Prepends a DKIM-Signature field to a message. */
export async function signMessage(message: Buffer, signer: DkimSigner): Promise<Buffer> {
  return Buffer.concat([await dkimField(message, signer), message]);
}

/**
 * Creates the DKIM-Signature field of a message, including its CRLF: rsa-sha256, relaxed/relaxed, over the whole body
 * (RFC 6376). A 2.7 KB message takes 0.25 ms of CPU (AMD EPYC, Node 24), nearly all of it for RSA, which runs on
 * Node's thread pool.
 */
export async function dkimField(message: Buffer, signer: DkimSigner, now = databaseTime()): Promise<Buffer> {
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

/** Selects the fields to sign and their names for `h=`; repeated fields are signed last to first (§5.4.2). */
function selectFields(fields: readonly string[], without: readonly string[]): { names: string[]; signed: string[] } {
  const byName = new Map<string, string[]>();
  for (const field of fields) {
    const name = field.slice(0, field.indexOf(':')).trim().toLowerCase();
    byName.set(name, [field, ...(byName.get(name) ?? [])]);
  }
  if (!byName.has('from')) throw new Error('A message without a From field cannot be signed.');
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

/** Folds to lines of at most 76 characters; whitespace between the parts is ignored. */
function fold(parts: readonly string[]): string {
  const lines = [''];
  for (const part of parts) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + part.length > 72) lines.push(part);
    else lines[lines.length - 1] = line + part;
  }
  return lines.join('\r\n\t');
}
