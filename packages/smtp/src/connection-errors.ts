const UNTRUSTED = "The mail server's certificate is not trusted here. Install a valid one, or trust its issuer";
const UNREACHABLE = "The mail server can't be reached from this machine. Check its address and the network";
const NO_TLS = 'The mail server does not speak TLS on this port. Check the port and the encryption';
const OLD_TLS = 'The mail server supports no version of TLS from 1.2 on. Enable one';
const HANDSHAKE = 'The TLS handshake with the mail server failed. Check its versions of TLS and its ciphers';
const NO_HOST = 'The hostname %s does not exist. Check its spelling';
const CLOSED = 'The mail server closed the connection';

/** The cause of a failed connection and what to do about it, by Node's error code. */
const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The mail server refused the connection. Check the host and the port',
  ENOTFOUND: NO_HOST,
  ENODATA: NO_HOST,
  EAI_AGAIN: 'The hostname %s could not be looked up. Check the name servers of this machine',
  ETIMEDOUT: 'The mail server did not answer in time. Check the host, the port and firewalls',
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  ECONNRESET: CLOSED,
  EPIPE: CLOSED,
  EPROTO: NO_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  ERR_TLS_CERT_ALTNAME_INVALID: "The mail server's certificate is for another hostname. Check the host",
  ERR_SSL_UNSUPPORTED_PROTOCOL: OLD_TLS,
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: OLD_TLS,
  CERT_NOT_YET_VALID: "The mail server's certificate is not valid yet. Check its clock and that of this machine",
  CERT_HAS_EXPIRED: "The mail server's certificate has expired. Renew it",
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
};

/**
 * Describes a failed connection for the people who see it: the cause, what to do, and the code in parentheses. When several
 * addresses were tried, the first error is representative.
 */
export function describeConnectionError(error: NodeJS.ErrnoException): string {
  const first = (error instanceof AggregateError ? error.errors[0] : error) as NodeJS.ErrnoException & {
    address?: string;
    hostname?: string;
  };
  const { code = '' } = first;
  // Node appends the address to `connect EACCES`; it is dropped.
  const raw = (first.address === undefined ? first.message : `${first.syscall} ${code}`) || 'Connection error';
  // The messages of OpenSSL have its source files.
  const known = CAUSES[code] ?? (code.startsWith('ERR_SSL_') ? HANDSHAKE : undefined);
  const message = known?.replace('%s', first.hostname ?? 'of the mail server') ?? raw;
  return code !== '' && !message.includes(code) ? `${message} (${code})` : message;
}
