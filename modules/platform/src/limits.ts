import { invalid } from '@postroom/errors';

export { MAX_EMAIL_LENGTH } from '@postroom/email-address';

/**
 * Maximum string lengths, in characters, that several modules share. Validation enforces them, and the OpenAPI document
 * states them; docs/reference/limits.md lists them.
 */
export const MAX_NAME_LENGTH = 200;
export const MAX_SUBJECT_LENGTH = 998;
/** An address with its display name: 200 characters, each escaped, and the address. */
export const MAX_MAILBOX_LENGTH = 1_000;
export const MAX_TAG_LENGTH = 100;
/** Our ids have 30 characters. */
export const MAX_ID_LENGTH = 64;

/**
 * Trims and validates the name of a user or a project. Both are in the subjects and texts of our own mail, where a line break would
 * let its writer add lines in our name.
 * @throws DomainError `validation_error`.
 */
export function checkDisplayName(name: string): string {
  const trimmed = name.trim();
  // oxlint-disable-next-line no-control-regex -- they are what it looks for
  if (trimmed === '' || trimmed.length > MAX_NAME_LENGTH || /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(trimmed))
    throw invalid({ field: 'name', message: `must be one line of 1 to ${MAX_NAME_LENGTH} characters` });
  return trimmed;
}
