/** Why a connection could not be opened, or ended early. */
export type ConnectionCause =
  | 'unknownHost'
  | 'lookupFailed'
  | 'refused'
  | 'timedOut'
  | 'unreachable'
  | 'closed'
  | 'noTls'
  | 'oldTls'
  | 'handshakeFailed'
  | 'wrongHostname'
  | 'notYetValid'
  | 'expired'
  | 'selfSigned'
  | 'untrusted';

/** By Node's error code. */
const CAUSES: Readonly<Record<string, ConnectionCause>> = {
  ENOTFOUND: 'unknownHost',
  ENODATA: 'unknownHost',
  EAI_AGAIN: 'lookupFailed',
  ETIMEOUT: 'lookupFailed',
  ECONNREFUSED: 'refused',
  ETIMEDOUT: 'timedOut',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ECONNRESET: 'closed',
  EPIPE: 'closed',
  EPROTO: 'noTls',
  ERR_SSL_WRONG_VERSION_NUMBER: 'noTls',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'noTls',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'oldTls',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'oldTls',
  ERR_TLS_CERT_ALTNAME_INVALID: 'wrongHostname',
  CERT_NOT_YET_VALID: 'notYetValid',
  CERT_HAS_EXPIRED: 'expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'selfSigned',
  SELF_SIGNED_CERT_IN_CHAIN: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'untrusted',
};

/** What the error of a failed connection says. */
export interface ConnectionFailure {
  /** Node's error code; empty if it has none. */
  code: string;
  /** `undefined` if its code is none that we know. */
  cause: ConnectionCause | undefined;
  /** Node's message without the resolved address, or the code if it has no message. */
  text: string;
}

/** Reads the error of a failed connection. Node tries each address of a host; then the first error stands for all. */
export function connectionFailure(error: Error): ConnectionFailure {
  const first: ConnectionError = error instanceof AggregateError ? (error.errors[0] as Error) : error;
  const { code = '' } = first;
  // The messages of OpenSSL have its source files.
  const cause = CAUSES[code] ?? (code.startsWith('ERR_SSL_') ? 'handshakeFailed' : undefined);
  return { code, cause, text: withoutAddress(first) || code };
}

type ConnectionError = NodeJS.ErrnoException & { address?: string; port?: number };

/** Node includes the resolved address in the message of a network error. */
function withoutAddress({ message, address, port }: ConnectionError): string {
  if (address === undefined) return message;
  return message.replace(` ${address}${port === undefined ? '' : `:${port}`}`, '').replace(/ - Local \(.*\)$/, '');
}
