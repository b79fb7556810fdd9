import { emailKey, isId } from '@postroom/platform';
import { macFor } from '@postroom/platform';
import type { MessageRecipient } from '@postroom/unsubscribe';

/** Signature length in bytes: 80 bits. */
const SIGNATURE_BYTES = 10;
/** Recipient signature length in bytes. 48 bits suffice, since each guess costs a mail to us; local parts are limited to 64 characters. */
const RECIPIENT_BYTES = 6;

const messageMac = macFor('postroom return addresses');
const recipientMac = macFor('postroom return addresses: recipients');

/** The signed recipient data, as a latin1 string. */
const recipientPayload = (suffix: string, { projectId, email }: MessageRecipient) =>
  Buffer.from(`${suffix} ${projectId} ${emailKey(email)}`).toString('latin1');

/**
 * Builds a message's signed return address (VERP). It is the same on every attempt, since greylisting depends on it, and
 * survives case folding. A second signature covers the recipient, so an address named in a bounce can be verified even after
 * the message's row has been deleted.
 */
export function returnAddress(messageId: string, mailFromDomain: string, to: MessageRecipient): string {
  const suffix = messageId.slice('eml_'.length);
  const signature = messageMac.sign(suffix, SIGNATURE_BYTES, 'hex');
  return `b+${suffix}${signature}${recipientMac.sign(recipientPayload(suffix, to), RECIPIENT_BYTES, 'hex')}@${mailFromDomain}`;
}

/** A verified return address. */
export interface ReturnAddress {
  address: string;
  messageId: string;
  /** The MAIL FROM subdomain, in lower case. */
  domain: string;
  /** Whether the message was sent to this address. Always false for old addresses without a recipient signature. */
  isOf: (to: MessageRecipient) => boolean;
}

const LOCAL_PART = /^b\+([0-9a-hjkmnp-tv-z]{26})([0-9a-f]{20})([0-9a-f]{12})?$/i;

/** Parses and verifies a return address; undefined if its signature is invalid. */
export function parseReturnAddress(address: string): ReturnAddress | undefined {
  const at = address.lastIndexOf('@');
  const [, given = '', signature = '', recipient = ''] = LOCAL_PART.exec(address.slice(0, at)) ?? [];
  const suffix = given.toLowerCase();
  const messageId = `eml_${suffix}`;
  if (!isId('eml', messageId) || !messageMac.verify(suffix, Buffer.from(signature, 'hex'))) return undefined;
  return {
    address,
    messageId,
    domain: address.slice(at + 1).toLowerCase(),
    isOf: (to) => recipientMac.verify(recipientPayload(suffix, to), Buffer.from(recipient, 'hex')),
  };
}

/** Finds the first valid return address in a text, such as in the quoted headers of a complaint. */
export function findReturnAddress(text: string): ReturnAddress | undefined {
  for (const [address] of text.matchAll(/b\+[0-9a-z]{46}(?:[0-9a-f]{12})?@[\w.-]+/gi)) {
    const found = parseReturnAddress(address);
    if (found !== undefined) return found;
  }
  return undefined;
}
