import { emailKey, isId } from '@postroom/platform';
import { macFor } from '@postroom/platform';
import type { Addressed } from '@postroom/unsubscribe';

/** Bytes of the signature in a return address: 80 bits. */
const SIGNATURE_BYTES = 10;
/** Bytes of what tells whom its message went to: 48 bits, since a local part has 64 characters and each try is a mail to us. */
const RECIPIENT_BYTES = 6;

const mac = macFor('postroom return addresses');
const recipients = macFor('postroom return addresses: recipients');

/** What a signature of the recipient is made of, as one byte a character. */
const recipientText = (suffix: string, { projectId, email }: Addressed) =>
  Buffer.from(`${suffix} ${projectId} ${emailKey(email)}`).toString('latin1');

/**
 * Where a message comes back to when it can't be delivered: the same at each try, since servers that greylist look at it, and
 * in characters that survive servers which fold case. It is signed, and signed once more together with whom the message
 * went to: when its row is no more, the address that a notification names is that one, or not.
 */
export function returnAddress(messageId: string, mailFromDomain: string, to: Addressed): string {
  const suffix = messageId.slice('eml_'.length);
  const signature = mac.sign(suffix, SIGNATURE_BYTES, 'hex');
  return `b+${suffix}${signature}${recipients.sign(recipientText(suffix, to), RECIPIENT_BYTES, 'hex')}@${mailFromDomain}`;
}

/** A return address that we made. */
export interface ReturnAddress {
  messageId: string;
  /** The MAIL FROM subdomain, in lower case. */
  domain: string;
  /** Whether it is of a message to this address; never for one of before recipients were signed. */
  isOf: (to: Addressed) => boolean;
}

const LOCAL_PART = /^b\+([0-9a-hjkmnp-tv-z]{26})([0-9a-f]{20})([0-9a-f]{12})?$/i;

/** What a return address says; undefined when we did not make it. */
export function parseReturnAddress(address: string): ReturnAddress | undefined {
  const at = address.lastIndexOf('@');
  const [, given = '', signature = '', recipient = ''] = LOCAL_PART.exec(address.slice(0, at)) ?? [];
  const suffix = given.toLowerCase();
  const messageId = `eml_${suffix}`;
  if (!isId('eml', messageId) || !mac.verify(suffix, Buffer.from(signature, 'hex'))) return undefined;
  return {
    messageId,
    domain: address.slice(at + 1).toLowerCase(),
    isOf: (to) => recipients.verify(recipientText(suffix, to), Buffer.from(recipient, 'hex')),
  };
}

/** The first return address of ours that a text holds, such as in the headers of a mail that somebody complains of. */
export function findReturnAddress(text: string): ReturnAddress | undefined {
  for (const [address] of text.matchAll(/b\+[0-9a-z]{46}(?:[0-9a-f]{12})?@[\w.-]+/gi)) {
    const found = parseReturnAddress(address);
    if (found !== undefined) return found;
  }
  return undefined;
}
