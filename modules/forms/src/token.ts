import { config, databaseNow, isId, macFor } from '@postroom/platform';
import { SUBMISSION_ID } from './ids.ts';

const SUFFIX_LENGTH = 26;
// Multiples of three, so that each is a whole number of base64url digits.
const LINK_BYTES = 18;
const PAGE_BYTES = 12;

const links = macFor('postroom form confirmations');
const pages = macFor('postroom form pages');

/** The link that confirms a submission. Its row says until when it works. */
export const confirmUrl = (submissionId: string): string =>
  `${config.PUBLIC_URL}/f/confirm/${confirmToken(submissionId)}`;

function confirmToken(submissionId: string): string {
  const suffix = submissionId.slice(SUBMISSION_ID.length + 1);
  return `${suffix}-${links.sign(suffix, LINK_BYTES, 'base64url')}`;
}

/** The id of the submission that a link confirms; undefined if it is not authentic. */
export function readConfirmToken(token: string): string | undefined {
  const [suffix, signature] = [token.slice(0, SUFFIX_LENGTH), token.slice(SUFFIX_LENGTH + 1)];
  const id = `${SUBMISSION_ID}_${suffix}`;
  if (!isId(SUBMISSION_ID, id) || token[SUFFIX_LENGTH] !== '-') return undefined;
  const bytes = Buffer.from(signature, 'base64url');
  if (bytes.length !== LINK_BYTES || bytes.toString('base64url') !== signature) return undefined;
  return links.verify(suffix, bytes) ? id : undefined;
}

/** How long a person takes at least to fill in a form, in milliseconds. */
const MIN_FILL_MS = 2_000;
/** How old a page may be that is submitted, in milliseconds. */
const MAX_PAGE_AGE_MS = 24 * 60 * 60_000;

/** A token that says when the page of a form was shown. */
export function pageToken(formId: string, now = databaseNow()): string {
  const time = now.toString(36);
  return `${time}.${pages.sign(`${formId} ${time}`, PAGE_BYTES, 'base64url')}`;
}

/** Whether a token says that the page of the form was shown long enough ago, and not too long ago. */
export function isPageToken(formId: string, token: string): boolean {
  const [time = '', signature = ''] = token.split('.', 2);
  if (!/^[0-9a-z]{1,11}$/.test(time)) return false;
  const age = databaseNow() - Number.parseInt(time, 36);
  if (age < MIN_FILL_MS || age > MAX_PAGE_AGE_MS) return false;
  const bytes = Buffer.from(signature, 'base64url');
  return bytes.length === PAGE_BYTES && pages.verify(`${formId} ${time}`, bytes);
}
