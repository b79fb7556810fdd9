import { emailProblem, normalizeDomain, normalizeEmail } from '@postroom/email-address';
import { MessageError } from './errors.ts';

export interface Mailbox {
  readonly email: string;
  readonly name?: string | null | undefined;
}

/** An address encoded for an SMTP envelope or a header. */
export interface WireAddress {
  /** One character per octet. A non-ASCII local part is encoded as UTF-8 octets, which requires SMTPUTF8. */
  readonly octets: string;
  readonly utf8: boolean;
}

const ASCII_ADDRESS = /^[\w!#$%&'*+/=?^`{|}~.-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;

/**
 * Encodes an address for an envelope or a header, with an internationalized domain as A-labels.
 * @throws MessageError if it isn't an address: line breaks, whitespace, brackets, quotes and lists are rejected.
 */
export function wireAddress(email: string, field: string): WireAddress {
  if (email.length <= 254 && ASCII_ADDRESS.test(email)) return { octets: email, utf8: false };
  if (emailProblem(email) !== undefined) {
    throw new MessageError(field, `${JSON.stringify(email.slice(0, 100))} is not an email address.`);
  }
  const normalized = normalizeEmail(email);
  const at = normalized.lastIndexOf('@');
  const local = Buffer.from(normalized.slice(0, at), 'utf8').toString('latin1');
  return { octets: `${local}@${normalizeDomain(normalized.slice(at + 1))}`, utf8: local.length !== at };
}

/** Rejects a sender with a non-ASCII local part, which few servers accept. Recipients may have one. */
export function checkSender(email: string, field: string): void {
  if (wireAddress(email, field).utf8) {
    throw new MessageError(field, 'The part of a sender before the "@" must be ASCII.');
  }
}
