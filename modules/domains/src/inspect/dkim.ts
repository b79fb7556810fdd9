import { parseTags } from './tags.ts';

/** The problem with the records at a DKIM name; `p=` must match the expected record. */
export function dkimProblem(records: readonly string[], expected: string): string | undefined {
  const keys = records.filter((record) => /(^|[;\s"])p\s*=/.test(record) || /v\s*=\s*DKIM1/i.test(record));
  const [key] = keys;
  if (key === undefined) return 'There is a TXT record, but it is not a DKIM key.';
  // Receivers may use any of them (RFC 6376 §3.6.2.2).
  if (keys.length > 1) return 'There are several keys at this name; keep only the one shown here.';
  return textProblem(key) ?? keyProblem(parseTags(key), parseTags(expected).get('p') ?? '');
}

/** DNS editors and copying add characters that receivers do not strip. */
function textProblem(key: string): string | undefined {
  if (key.includes('"')) return 'The record contains quotation marks; enter the value without them.';
  if (key.includes('\\')) return 'The record contains backslashes; enter the value without them.';
  return undefined;
}

function keyProblem(tags: Map<string, string>, expected: string): string | undefined {
  const key = tags.get('p')?.replace(/\s/g, '');
  if (key === '') return 'The key is marked as revoked: its p= is empty.';
  if (key !== undefined && key !== expected && expected.startsWith(key)) {
    return `The key is truncated after ${key.length} of ${expected.length} characters; some editors want it as two strings.`;
  }
  if (key !== expected) return 'There is a different key at this name.';
  if (tags.has('v') && tags.get('v') !== 'DKIM1') return 'The record must begin with v=DKIM1.';
  if ((tags.get('k') ?? 'rsa') !== 'rsa') return 'The record must say k=rsa.';
  if (!allows(tags.get('h'), 'sha256')) return 'The record does not allow sha256 (h=).';
  if (!allows(tags.get('s'), 'email', '*')) return 'The record does not allow the key to be used for email (s=).';
  if (allows(tags.get('t') ?? '', 'y')) return 'The record says that DKIM is in test mode (t=y); remove that tag.';
  return undefined;
}

const allows = (list: string | undefined, ...values: string[]) =>
  list === undefined || list.split(':').some((value) => values.includes(value.trim()));
