/** Parses `tag=value;` pairs as in DKIM and DMARC (RFC 6376 §3.2). Tag names keep their case. */
export function parseTags(text: string): Map<string, string> {
  const tags = new Map<string, string>();
  for (const part of text.split(';')) {
    const equals = part.indexOf('=');
    if (equals > 0) tags.set(part.slice(0, equals).trim(), part.slice(equals + 1).trim());
  }
  return tags;
}
