import { type ConnectionCause, connectionFailure } from '@postroom/errors';

const UNTRUSTED = "The mail server's certificate is not trusted here. Install a valid one, or trust its issuer";

/** The cause and what to do about it. */
const DESCRIPTIONS: Readonly<Record<ConnectionCause, string>> = {
  unknownHost: 'The hostname %s does not exist. Check its spelling',
  lookupFailed: 'The hostname %s could not be looked up. Check the name servers of this machine',
  refused: 'The mail server refused the connection. Check the host and the port',
  timedOut: 'The mail server did not answer in time. Check the host, the port and firewalls',
  unreachable: "The mail server can't be reached from this machine. Check its address and the network",
  closed: 'The mail server closed the connection',
  noTls: 'The mail server does not speak TLS on this port. Check the port and the encryption',
  oldTls: 'The mail server supports no version of TLS from 1.2 on. Enable one',
  handshakeFailed: 'The TLS handshake with the mail server failed. Check its versions of TLS and its ciphers',
  wrongHostname: "The mail server's certificate is for another hostname. Check the host",
  notYetValid: "The mail server's certificate is not valid yet. Check its clock and that of this machine",
  expired: "The mail server's certificate has expired. Renew it",
  selfSigned: UNTRUSTED,
  untrusted: UNTRUSTED,
};

/** Describes a failed connection for the people who see it: the cause, what to do, and the code in parentheses. */
export function describeConnectionError(error: Error & { hostname?: string }): string {
  const { code, cause, text } = connectionFailure(error);
  const message =
    cause === undefined
      ? text || 'Connection error'
      : DESCRIPTIONS[cause].replace('%s', error.hostname ?? 'of the mail server');
  return code !== '' && !message.includes(code) ? `${message} (${code})` : message;
}
