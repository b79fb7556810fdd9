/**
 * A message as one character per octet, with CRLF as its only line ends, one at the end, and dots at line starts
 * doubled (RFC 5321 §4.5.2). A bare CR or LF becomes CRLF: servers disagree on what it is, which lets one message
 * smuggle in another.
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

/** A stuffed message without the dots that were put in, as BDAT takes it. */
export const dotUnstuff = (stuffed: string): string => stuffed.replace(/^\./, '').replaceAll('\n.', '\n');
