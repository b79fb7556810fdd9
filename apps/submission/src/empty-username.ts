import mechanisms, { type Step } from 'smtp-server/lib/sasl.js';

/** `=` is an initial response of no bytes (RFC 4954, 4). */
const EMPTY = /^=?\s*$/;
/** Any username will do: the key is the password. */
const ANY_USERNAME = Buffer.from('key').toString('base64');

/**
 * Makes AUTH LOGIN accept an empty username, as AUTH PLAIN does. The library would reply 501, which tells a client without a username
 * nothing about its key.
 */
export function acceptEmptyUsername(): void {
  const readUsername: Step = mechanisms.LOGIN_username;
  mechanisms.LOGIN_username = function (canAbort, given, callback) {
    readUsername.call(this, canAbort, EMPTY.test((given ?? '').toString()) ? ANY_USERNAME : given, callback);
  };
}
