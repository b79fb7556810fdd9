import { domainToASCII } from 'node:url';
import { MessageError } from './errors.ts';

export interface Mailbox {
  readonly email: string;
  readonly name?: string | null | undefined;
}

/** An address as it goes over the wire. */
export interface WireAddress {
  /** One character per octet: a local part that isn't ASCII is its UTF-8 octets, which needs SMTPUTF8. */
  readonly octets: string;
  readonly utf8: boolean;
}

const ASCII_ADDRESS = /^[\w!#$%&'*+/=?^`{|}~.-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
/** As above with letters of any script; what ASCII has of syntax is not in it, so that nothing can be smuggled in. */
const ANY_ADDRESS = /^[\w!#$%&'*+/=?^`{|}~.\u00a1-\u{10fffd}-]{1,64}@[A-Za-z0-9.\u00a1-\u{10fffd}-]+$/u;

/**
 * The address for an envelope or a header; a domain in letters beyond ASCII becomes Punycode.
 * @throws MessageError when it isn't an address: line breaks, white space, brackets, quotes and lists are refused.
 */
export function wireAddress(email: string, field: string): WireAddress {
  if (email.length <= 254 && ASCII_ADDRESS.test(email)) return { octets: email, utf8: false };
  const at = email.lastIndexOf('@');
  const domain = ANY_ADDRESS.test(email) && email.isWellFormed() ? domainToASCII(email.slice(at + 1)) : '';
  const local = Buffer.from(email.slice(0, at), 'utf8').toString('latin1');
  const octets = `${local}@${domain}`;
  if (domain === '' || local.length > 64 || octets.length > 254) {
    throw new MessageError(field, `${JSON.stringify(email.slice(0, 100))} is not an email address.`);
  }
  return { octets, utf8: octets.length - domain.length - 1 !== at };
}

/** Refuses a sender that few servers would take: one whose local part isn't ASCII. Recipients may have such addresses. */
export function checkSender(email: string, field: string): void {
  if (wireAddress(email, field).utf8) {
    throw new MessageError(field, 'The part of a sender before the "@" must be ASCII.');
  }
}
