import { domainToASCII, domainToUnicode } from 'node:url';

/** Nearly all addresses are of these characters alone; what takes longer is kept for the others. */
const ASCII = /^[\x20-\x7e]*$/;
/**
 * Characters that nobody sees, or that Unicode has not assigned: two spellings that differ in them alone look the same. The
 * default-ignorable ones are zero-width spaces, soft hyphens, joiners, variation selectors and marks of direction.
 */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{C}\p{Zl}\p{Zp}\u2800]/u;
const EVERY_INVISIBLE = new RegExp(INVISIBLE, 'gu');

const MAX_LENGTH = 254;
const LOCAL_PART = /^[^\s"(),:;<>@[\\\]\p{Cc}]{1,64}$/u;
const MAX_LOCAL_OCTETS = 64;
/** What nearly all hosts are: labels of ASCII that encode no others. */
const PLAIN_HOST = /^(?:(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/i;
/** What no host name holds, in ASCII: Node would decode or drop some of it, and some letters are mapped to it. */
const NOT_IN_HOST = /[\x00-,/:-@[-`{-\x7f\s]/; // oxlint-disable-line no-control-regex
const HOST_LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/;
const ENCODED_LABEL = /^xn--/i;

/**
 * What is wrong with an email address; `undefined` when nothing is. It takes what mail servers take in practice: a dot
 * atom before the `@` (international characters included), a host name with a dot after it. No quotes, no comments.
 */
export function emailProblem(address: string): string | undefined {
  if (address === '') return 'must not be empty';
  if (address.length > MAX_LENGTH) return `must be at most ${MAX_LENGTH} characters`;
  const invisible = invisibleProblem(address);
  if (invisible !== undefined) return invisible;
  const at = address.lastIndexOf('@');
  if (at < 1) return 'must be an email address such as ada@example.com';
  const local = composed(address.slice(0, at));
  if (!LOCAL_PART.test(local) || local.startsWith('.') || local.endsWith('.') || local.includes('..')) {
    return 'has characters before the @ that an email address can not have';
  }
  const given = address.slice(at + 1);
  if (given.length <= 253 && PLAIN_HOST.test(given) && ASCII.test(local)) return undefined;
  const host = given === given.trim() ? normalizeDomain(given) : '';
  if (!isHostName(host)) return 'must have a domain such as example.com after the @';
  const octets = Buffer.byteLength(local);
  if (octets > MAX_LOCAL_OCTETS) return `must have at most ${MAX_LOCAL_OCTETS} bytes before the @`;
  if (octets + 1 + host.length > MAX_LENGTH) return `must be at most ${MAX_LENGTH} bytes with its domain in ASCII`;
  return undefined;
}

/** Line breaks and other control characters in ASCII are left to the checks of the part that they are in. */
function invisibleProblem(address: string): string | undefined {
  if (ASCII.test(address)) return undefined;
  const [found] = address.match(INVISIBLE) ?? [];
  if (found === undefined || found < '\x80') return undefined;
  const code = (found.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0');
  return `must not have the invisible character U+${code}`;
}

/**
 * A host name in the one form that DNS and mail servers know: A-labels in lower case. Letters of other widths and other full
 * stops are mapped as browsers map them (UTS 46). It is '' for what can not be a host name, which includes a name with
 * invisible characters; a trailing dot is dropped.
 */
export function normalizeDomain(name: string): string {
  const trimmed = name.trim();
  if (PLAIN_HOST.test(trimmed)) return trimmed.toLowerCase();
  if (NOT_IN_HOST.test(trimmed) || INVISIBLE.test(trimmed)) return '';
  const host = domainToASCII(trimmed).replace(/\.$/, '');
  if (NOT_IN_HOST.test(host)) return '';
  return host.split('.').every((label) => !ENCODED_LABEL.test(label) || isEncoded(label)) ? host : '';
}

/** Whether an `xn--` label is what its letters are encoded to; Node passes over those of hosts in ASCII. */
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

/** Full-width letters, ligatures and the like are the letters that they stand for, and letters with marks are one character each. */
const composed = (text: string) => (ASCII.test(text) ? text : text.normalize('NFKC'));

/** Without surrounding space and invisible characters, which nothing that `emailProblem` takes has. */
function visible(address: string): string {
  const trimmed = address.trim();
  return ASCII.test(trimmed) ? trimmed : trimmed.replace(EVERY_INVISIBLE, '').trim();
}

/** Without regard to case, wherever a Greek sigma stands. */
const folded = (text: string) => composed(composed(text).toLowerCase().replaceAll('ς', 'σ'));

/**
 * An address as we store and show it: as it was given, without surrounding space, with composed characters (NFKC), and with a
 * domain beyond ASCII as browsers map it. It is what texts, events and answers of the API have. Only `emailKey` tells whether two are the same.
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
 * The canonical form of an address: the domain in lower-case A-labels, the local part composed and in lower case, no surrounding
 * space, no invisible characters. Every unique index, suppression and lookup goes by it, and nothing else makes it. An address
 * that `emailProblem` rejects has a key too, the one of the address that it looks like, so that a text which got past a check
 * still meets the suppression.
 */
export function emailKey(address: string): string {
  const trimmed = visible(address);
  if (ASCII.test(trimmed)) return trimmed.toLowerCase();
  const at = trimmed.lastIndexOf('@');
  if (at < 0) return folded(trimmed);
  const domain = trimmed.slice(at + 1);
  return `${folded(trimmed.slice(0, at))}@${normalizeDomain(domain) || folded(domain)}`;
}

/** What the `messages.email_key` of an address is: NULL where `lower(email)` says the same, as for nearly all. */
export function storedEmailKey(address: string): string | null {
  return ASCII.test(address) ? null : emailKey(address);
}

/**
 * The key of the message `alias`, in SQL. Only ASCII is without a key of its own, and that has one lower case in every locale.
 * An index has this expression.
 */
export const messageKeySql = (alias: string) => `coalesce(${alias}.email_key, lower(${alias}.email COLLATE "C"))`;

/** How texts of ours spell the address of a key, without regard to case: with its domain in A-labels, or in its own letters. */
export function emailSpellings(key: string): string[] {
  const at = key.lastIndexOf('@');
  const domain = key.slice(at + 1);
  const letters = domain.includes('xn--') ? domainToUnicode(domain) : domain;
  return letters === domain || letters === '' ? [key] : [key, `${key.slice(0, at + 1)}${letters}`];
}

/**
 * A part of an address as keys hold it, for a search: as it stands in a local part, and in a domain. A label that is cut off
 * has no A-label, so what it is part of is not found by it.
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
