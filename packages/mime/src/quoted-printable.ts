/** Octets on a line before the `=` of a soft break (RFC 2045 §6.7). */
const ROOM = 75;
const SOFT_BREAK = '=\r\n';

/** Short printable ASCII that is no worse at a line start: it needs no encoding wherever it stands. */
const PLAIN_VALUE = /^(?![.F])[ -<>-~]{1,75}$/;

/**
 * Encodes a static piece of a text so that whatever follows it starts a line of its own: it ends with a line break,
 * hard or soft. So pieces and values are encoded without knowing each other.
 */
export function encodePiece(text: string): string {
  const encoded = encode(text, false);
  return encoded === '' || encoded.endsWith('\n') ? encoded : encoded + SOFT_BREAK;
}

/** Encodes the last piece of a text, which the line break of a boundary follows. */
export function encodeLastPiece(text: string): string {
  return encode(text, true);
}

/** Encodes a value; what follows it starts a line of its own. */
export function encodeValue(value: string): string {
  return PLAIN_VALUE.test(value) ? value + SOFT_BREAK : encodePiece(value);
}

/**
 * Text to quoted-printable from column 0: line breaks become CRLF, characters stay whole, white space before a line
 * break is encoded. No line starts with a dot, so the result needs no dot-stuffing; nor with "From ", which old
 * servers change.
 */
function encode(text: string, last: boolean): string {
  if (!/[\r\n]/.test(text)) return encodeLine(text, last);
  const lines = text.split(/\r\n|\r|\n/);
  return lines.map((line, i) => encodeLine(line, last || i < lines.length - 1)).join('\r\n');
}

function encodeLine(line: string, hardEnd: boolean): string {
  const quoted = line.toWellFormed().replace(/[^ -<>-~\t]/gu, quotedOctets);
  return wrap(hardEnd ? quoted.replace(/[ \t]$/, quotedOctets) : quoted);
}

/** Breaks an encoded line into lines of 76 at most. */
function wrap(quoted: string): string {
  let out = '';
  for (let at = 0; ;) {
    const start = lineStart(quoted, at);
    const rest = at + (start === '' ? 0 : 1);
    const room = ROOM - start.length;
    if (quoted.length - rest <= room) return out + start + quoted.slice(rest);
    const end = wholeCharacter(quoted, rest + room);
    out += start + quoted.slice(rest, end) + SOFT_BREAK;
    at = end;
  }
}

/** What the first character of a line becomes, or '' when it may stay. */
function lineStart(quoted: string, at: number): string {
  const first = quoted.charCodeAt(at);
  if (first === 0x2e) return '=2E';
  return first === 0x46 && quoted.startsWith('From ', at) ? '=46' : '';
}

/** The last place at or before `end` that lies between two characters, not inside `=XX` or its continuation. */
function wholeCharacter(quoted: string, end: number): number {
  let cut = end;
  if (quoted[cut - 1] === '=') cut -= 1;
  else if (quoted[cut - 2] === '=') cut -= 2;
  while (quoted[cut] === '=' && /[89AB]/.test(quoted[cut + 1]!)) cut -= 3;
  return cut;
}

/** `=XX` for each octet of a character in UTF-8. */
export function quotedOctets(character: string): string {
  let out = '';
  for (const octet of Buffer.from(character)) out += `=${octet.toString(16).toUpperCase().padStart(2, '0')}`;
  return out;
}
