/**
 * Returns the message as one character per octet, with CRLF line endings (including one at the end) and leading dots doubled
 * (RFC 5321 §4.5.2). Bare CRs and LFs become CRLF, because servers disagree on how to treat them, which enables SMTP smuggling.
 */
export function dotStuff(data: string | Uint8Array): string {
  const bytes =
    typeof data === 'string' ? Buffer.from(data, 'utf8') : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  let text = bytes.toString('latin1');
  if (/\r(?!\n)|(?<!\r)\n/.test(text)) text = text.replace(/\r\n|\r|\n/g, '\r\n');
  if (text.startsWith('.')) text = `.${text}`;
  if (text.includes('\n.')) text = text.replaceAll('\n.', '\n..');
  return text.endsWith('\r\n') ? text : `${text}\r\n`;
}

/** Removes the dots that `dotStuff` added; BDAT sends data unescaped. */
export const dotUnstuff = (dotStuffed: string): string => dotStuffed.replace(/^\./, '').replaceAll('\n.', '\n');
