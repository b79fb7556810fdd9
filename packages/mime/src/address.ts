import { emailProblem, normalizeDomain, normalizeEmail } from '@postroom/platform/email-address';
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

/**
 * The address for an envelope or a header; a domain in letters beyond ASCII goes out in A-labels.
 * @throws MessageError when it isn't an address: line breaks, white space, brackets, quotes and lists are refused.
 */
export function wireAddress(email: string, field: string): WireAddress {
  if (email.length <= 254 && ASCII_ADDRESS.test(email)) return { octets: email, utf8: false };
  if (emailProblem(email) !== undefined) {
    throw new MessageError(field, `${JSON.stringify(email.slice(0, 100))} is not an email address.`);
  }
  const shown = normalizeEmail(email);
  const at = shown.lastIndexOf('@');
  const local = Buffer.from(shown.slice(0, at), 'utf8').toString('latin1');
  return { octets: `${local}@${normalizeDomain(shown.slice(at + 1))}`, utf8: local.length !== at };
}

/** Refuses a sender that few servers would take: one whose local part isn't ASCII. Recipients may have such addresses. */
export function checkSender(email: string, field: string): void {
  if (wireAddress(email, field).utf8) {
    throw new MessageError(field, 'The part of a sender before the "@" must be ASCII.');
  }
}
