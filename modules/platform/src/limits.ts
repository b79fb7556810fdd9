export { MAX_EMAIL_LENGTH } from '@postroom/email-address';
export { MAX_EVENT_NAME_LENGTH, MAX_NAME_LENGTH } from '@postroom/errors';

/**
 * Maximum string lengths, in characters, that several modules share. Validation enforces them, and the OpenAPI document
 * states them; docs/reference/limits.md lists them.
 */
/** An address with its display name: 200 characters, each escaped, and the address. */
export const MAX_MAILBOX_LENGTH = 1_000;
export const MAX_TAG_LENGTH = 100;
/** Our ids have 30 characters. */
export const MAX_ID_LENGTH = 64;
