import mechanisms, { type Step } from 'smtp-server/lib/sasl.js';

/** `=` is an initial response of no bytes (RFC 4954, 4). */
const EMPTY = /^=?\s*$/;
/** Any username will do: the key is the password. */
const ANY_USERNAME = Buffer.from('key').toString('base64');

/**
 * Lets AUTH LOGIN have an empty username, as AUTH PLAIN does. The library replies 501 to it, so that a client whose username is not
 * set would not be told what is wrong with its key.
 */
export function acceptEmptyUsername(): void {
  const readUsername: Step = mechanisms.LOGIN_username;
  mechanisms.LOGIN_username = function (canAbort, given, callback) {
    readUsername.call(this, canAbort, EMPTY.test((given ?? '').toString()) ? ANY_USERNAME : given, callback);
  };
}
