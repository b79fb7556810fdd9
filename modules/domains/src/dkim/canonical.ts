const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;

/** The relaxed form of a body (RFC 6376 §3.4.4): runs of whitespace are one space, and none ends a line or the body. */
export function relaxedBody(body: Buffer): Buffer {
  const out = Buffer.allocUnsafe(body.length + 2);
  let length = 0;
  let endOfText = 0; // after the last line that is not empty
  let sawSpace = false;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (byte === SPACE || byte === TAB) {
      sawSpace = true;
    } else if (byte === CR && body[at + 1] === LF) {
      out[length++] = CR;
      out[length++] = LF;
      sawSpace = false;
      at++;
    } else {
      if (sawSpace) out[length++] = SPACE;
      sawSpace = false;
      out[length++] = byte as number;
      endOfText = length;
    }
  }
  if (endOfText === 0) return out.subarray(0, 0);
  out[endOfText] = CR;
  out[endOfText + 1] = LF;
  return out.subarray(0, endOfText + 2);
}

/** The relaxed form of one header field, without its CRLF (RFC 6376 §3.4.2). */
export function relaxedField(field: string): string {
  const colon = field.indexOf(':');
  const name = field.slice(0, colon).trim().toLowerCase();
  const value = field.slice(colon + 1).replace(/[ \t\r\n]+/g, ' ');
  return `${name}:${value.trim()}`;
}

/** The fields of a header in order, and the body. Bytes are kept as Latin-1 characters. */
export function splitMessage(message: Buffer): { fields: string[]; body: Buffer } {
  const end = message.indexOf('\r\n\r\n');
  const header = message.subarray(0, end === -1 ? message.length : end).toString('latin1');
  const body = end === -1 ? Buffer.alloc(0) : message.subarray(end + 4);
  return { fields: header.split(/\r\n(?![ \t])/).filter((field) => field !== ''), body };
}
