import { isId } from '@postroom/platform';
import { macFor } from '../link-mac.ts';

/** Bytes of the signature in a return address: 80 bits. */
const SIGNATURE_BYTES = 10;

const mac = macFor('postroom return addresses');

/**
 * Where a message comes back to when it can't be delivered: the same at each try, since servers that greylist look at it, and
 * in characters that survive servers which fold case.
 */
export function returnAddress(messageId: string, mailFromDomain: string): string {
  const suffix = messageId.slice('eml_'.length);
  return `b+${suffix}${mac.sign(suffix, SIGNATURE_BYTES, 'hex')}@${mailFromDomain}`;
}

const LOCAL_PART = /^b\+([0-9a-hjkmnp-tv-z]{26})([0-9a-f]{20})$/i;

/** The message that a return address names; undefined when we did not make it. */
export function readReturnAddress(address: string): string | undefined {
  const [, suffix = '', signature = ''] = LOCAL_PART.exec(address.slice(0, address.lastIndexOf('@'))) ?? [];
  const messageId = `eml_${suffix.toLowerCase()}`;
  if (!isId('eml', messageId)) return undefined;
  return mac.verify(suffix.toLowerCase(), Buffer.from(signature, 'hex')) ? messageId : undefined;
}

/** The first return address of ours that a text holds, such as in the headers of a mail that somebody complains of. */
export function findReturnAddress(text: string): string | undefined {
  for (const [address] of text.matchAll(/b\+[0-9a-z]{46}@[\w.-]+/gi)) {
    const messageId = readReturnAddress(address);
    if (messageId !== undefined) return messageId;
  }
  return undefined;
}
