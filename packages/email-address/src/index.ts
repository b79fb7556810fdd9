import { domainToASCII, domainToUnicode } from 'node:url';

/** Fast path: nearly all addresses contain only these characters. */
const ASCII = /^[\x20-\x7e]*$/;
/**
 * Characters that are invisible or unassigned in Unicode: spellings that differ only in them look the same.
 * Default-ignorable ones include zero-width spaces, soft hyphens, joiners, variation selectors and direction marks.
 */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{C}\p{Zl}\p{Zp}\u2800]/u;
const EVERY_INVISIBLE = new RegExp(INVISIBLE, 'gu');

export const MAX_EMAIL_LENGTH = 254;
const NOT_IN_LOCAL_PART = /[\s"(),:;<>[\\\]\p{Cc}]/u;
const MAX_LOCAL_LENGTH = 64;
/** Fast path: hosts of plain ASCII labels. */
const PLAIN_HOST = /^(?:(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/i;
/** ASCII that no hostname contains. Node would decode or drop some of it, or map letters to it. */
const NOT_IN_HOST = /[\x00-,/:-@[-`{-\x7f\s]/; // oxlint-disable-line no-control-regex
const HOST_LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/;
const ENCODED_LABEL = /^xn--/i;

/**
 * Describes what is wrong with an email address; `undefined` if it is valid. Accepts what mail servers accept in
 * practice: a dot-atom before the `@` (international characters included) and a hostname with at least one dot. No
 * quotes or comments.
 */
export function emailProblem(address: string): string | undefined {
  if (address === '') return 'must not be empty';
  if (address.length > MAX_EMAIL_LENGTH) return `must be at most ${MAX_EMAIL_LENGTH} characters`;
  const invisible = invisibleProblem(address);
  if (invisible !== undefined) return invisible;
  const at = address.lastIndexOf('@');
  if (at < 1) return 'must be an email address such as ada@example.com';
  const local = composed(address.slice(0, at));
  if (local.includes('@')) return 'must be a single email address';
  const inLocal = localPartProblem(local);
  if (inLocal !== undefined) return inLocal;
  const given = address.slice(at + 1);
  if (given.length <= 253 && PLAIN_HOST.test(given) && ASCII.test(local)) return undefined;
  const host = given === given.trim() ? normalizeDomain(given) : '';
  if (!isHostName(host)) return hostProblem(given);
  const octets = Buffer.byteLength(local);
  if (octets > MAX_LOCAL_LENGTH) return `must have at most ${MAX_LOCAL_LENGTH} bytes before the @`;
  if (octets + 1 + host.length > MAX_EMAIL_LENGTH)
    return `must be at most ${MAX_EMAIL_LENGTH} bytes with its domain in ASCII`;
  return undefined;
}

/**
 * Describes what is wrong with the address of a sender, or one for replies; `undefined` if it is valid. Unlike a
 * recipient's, it must be ASCII before the `@`: otherwise only servers with SMTPUTF8 would take the mail of any recipient.
 */
export function senderProblem(address: string): string | undefined {
  const problem = emailProblem(address);
  if (problem !== undefined || ASCII.test(composed(address.slice(0, address.lastIndexOf('@'))))) return problem;
  return 'must be ASCII before the @, because few mail servers accept other senders';
}

function localPartProblem(local: string): string | undefined {
  if (/[<>]/.test(local)) return 'must be only the address, without a name or < and >';
  const [character] = NOT_IN_LOCAL_PART.exec(local) ?? [];
  if (character !== undefined) return `must not have ${shown(character)} before the @`;
  if (local.startsWith('.')) return 'must not start with a dot';
  if (local.endsWith('.')) return 'must not have a dot right before the @';
  if (local.includes('..')) return 'must not have two dots in a row before the @';
  return local.length > MAX_LOCAL_LENGTH ? `must have at most ${MAX_LOCAL_LENGTH} characters before the @` : undefined;
}

/** What is wrong with a domain that is no hostname. */
function hostProblem(given: string): string {
  if (given.startsWith('[') || /^[\d.]+$/.test(given)) return 'must have a domain after the @, not an IP address';
  const [character] = NOT_IN_HOST.exec(given) ?? [];
  if (character !== undefined) return `must not have ${shown(character)} after the @`;
  if (given.startsWith('.')) return 'must not have a dot right after the @';
  if (given.includes('..')) return 'must not have two dots in a row after the @';
  if (/(^|\.)-|-(\.|$)/.test(given)) return 'must not have a hyphen at the start or the end of a part of its domain';
  return 'must have a domain such as example.com after the @';
}

/** A character of ASCII as a message shows it. */
function shown(character: string): string {
  if (character === ' ') return 'a space';
  if (character === ',') return 'a comma';
  return /[\s\p{Cc}]/u.test(character) ? 'whitespace or a control character' : `the character ${character}`;
}

/** ASCII control characters are left to the checks of their part. */
function invisibleProblem(address: string): string | undefined {
  if (ASCII.test(address)) return undefined;
  const [found] = address.match(INVISIBLE) ?? [];
  if (found === undefined || found < '\x80') return undefined;
  const code = (found.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0');
  return `must not have the invisible character U+${code}`;
}

/**
 * Normalizes a hostname to lower-case A-labels, as DNS uses them. Full-width letters and alternative full stops
 * are mapped as browsers do (UTS 46). Returns '' for an invalid hostname, including one with invisible characters.
 * Drops a trailing dot.
 */
export function normalizeDomain(name: string): string {
  const trimmed = name.trim();
  if (PLAIN_HOST.test(trimmed)) return trimmed.toLowerCase();
  if (NOT_IN_HOST.test(trimmed) || INVISIBLE.test(trimmed)) return '';
  const host = domainToASCII(trimmed).replace(/\.$/, '');
  if (NOT_IN_HOST.test(host)) return '';
  return host.split('.').every((label) => !ENCODED_LABEL.test(label) || isEncoded(label)) ? host : '';
}

/** The normalized domain of an address; '' if it is invalid. */
export const emailDomain = (address: string): string => normalizeDomain(address.slice(address.lastIndexOf('@') + 1));

/** Whether an `xn--` label is the encoding of what it decodes to. Node does not check this for ASCII hosts. */
function isEncoded(label: string): boolean {
  const letters = domainToUnicode(label);
  return !ASCII.test(letters) && !INVISIBLE.test(letters) && domainToASCII(letters) === label;
}

function isHostName(host: string): boolean {
  const labels = host.split('.');
  return (
    host.length <= 253 &&
    labels.length >= 2 &&
    labels.every((label) => HOST_LABEL.test(label)) &&
    !/^\d+$/.test(labels.at(-1) as string)
  );
}

/** NFKC: maps full-width letters and ligatures to plain letters, and composes diacritics. */
const composed = (text: string) => (ASCII.test(text) ? text : text.normalize('NFKC'));

/** Removes surrounding space, invisible characters and the dot that ends a fully qualified domain name. */
function visible(address: string): string {
  const trimmed = address.trim();
  const shown = ASCII.test(trimmed) ? trimmed : trimmed.replace(EVERY_INVISIBLE, '').trim();
  return shown.endsWith('.') ? shown.slice(0, -1) : shown;
}

/** Case-folds, including the Greek final sigma. */
const folded = (text: string) => composed(composed(text).toLowerCase().replaceAll('ς', 'σ'));

/**
 * The form in which we store and display an address: trimmed, NFKC-composed, with a non-ASCII domain mapped as
 * browsers do. Texts, events and API responses use it. Only `emailKey` decides whether two addresses are equal.
 */
export function normalizeEmail(address: string): string {
  const trimmed = visible(address);
  if (ASCII.test(trimmed)) return trimmed;
  const at = trimmed.lastIndexOf('@');
  if (at < 0) return composed(trimmed);
  const given = trimmed.slice(at + 1);
  const domain = ASCII.test(given) ? given : domainToUnicode(normalizeDomain(given)) || given;
  return `${composed(trimmed.slice(0, at))}@${domain}`;
}

/**
 * The canonical form of an address: lower-case A-label domain, composed lower-case local part, no surrounding space
 * or invisible characters. Every unique index, suppression and lookup uses it, and nothing else computes it. An
 * invalid address also has a key, that of the address it resembles, so a text that slips past validation still
 * matches a suppression.
 */
export function emailKey(address: string): string {
  const trimmed = visible(address);
  if (ASCII.test(trimmed)) return trimmed.toLowerCase();
  const at = trimmed.lastIndexOf('@');
  if (at < 0) return folded(trimmed);
  const domain = trimmed.slice(at + 1);
  return `${folded(trimmed.slice(0, at))}@${normalizeDomain(domain) || folded(domain)}`;
}

/** A domain as people read it: its A-labels decoded. For display only, as different letters may look the same. */
export const unicodeDomain = (domain: string): string =>
  domain.includes('xn--') ? domainToUnicode(domain) || domain : domain;

/** The spellings of a key in our texts: with its domain in A-labels or in Unicode. */
export function emailSpellings(key: string): string[] {
  const at = key.lastIndexOf('@');
  const domain = key.slice(at + 1);
  const letters = unicodeDomain(domain);
  return letters === domain ? [key] : [key, `${key.slice(0, at + 1)}${letters}`];
}

/**
 * Normalizes part of an address for a search over keys, which may be in a local part or a domain. A truncated label
 * has no A-label, so it does not match.
 */
export function emailKeyParts(text: string): string[] {
  if (ASCII.test(text)) return [text.toLowerCase()];
  const shown = text.replace(EVERY_INVISIBLE, '');
  const at = shown.lastIndexOf('@');
  const inDomain = shown
    .slice(at + 1)
    .split(/[.。．｡]/)
    .map((label) => (ASCII.test(label) ? label.toLowerCase() : normalizeDomain(label) || folded(label)))
    .join('.');
  const local = folded(shown.slice(0, at + 1));
  return at < 0 ? [...new Set([folded(shown), inDomain])] : [local + inDomain];
}
