/** Maximum octets on a line before the `=` of a soft break (RFC 2045 §6.7). */
const MAX_LINE_OCTETS = 75;
const SOFT_BREAK = '=\r\n';

/** Short printable ASCII that is safe at the start of a line, so it never needs encoding. */
const PLAIN_VALUE = /^(?![.F])[ -<>-~]{1,75}$/;

/**
 * Encodes a static piece of text, ending with a hard or soft line break. Whatever follows starts on its own line, so pieces
 * and values can be encoded independently.
 */
export function encodePiece(text: string): string {
  const encoded = encode(text, false);
  return encoded === '' || encoded.endsWith('\n') ? encoded : encoded + SOFT_BREAK;
}

/** Encodes the last piece of a text, which is followed by the line break of a boundary. */
export function encodeLastPiece(text: string): string {
  return encode(text, true);
}

/** Creates a function that encodes as `encodeLastPiece` does, but faster for texts of which most lines are in `lines`. */
export function createLineEncoder(lines: readonly string[]): (text: string) => string {
  const known = new Map(lines.map((line) => [line, encodeLine(line, true)]));
  const encodeKnown = (line: string) => known.get(line) ?? encodeLine(line, true);
  // Splitting at one character is faster.
  return (text) => (text.includes('\r') ? text.split(LINE_BREAK) : text.split('\n')).map(encodeKnown).join('\r\n');
}

const LINE_BREAK = /\r\n|\r|\n/;

/** Encodes a value, ending with a hard or soft line break. */
export function encodeValue(value: string): string {
  return PLAIN_VALUE.test(value) ? value + SOFT_BREAK : encodePiece(value);
}

/**
 * Encodes text as quoted-printable, starting at column 0. Line breaks become CRLF, characters are never split, and whitespace
 * before a line break is encoded. No line starts with a dot, so no dot-stuffing is needed, or with "From ", which old servers
 * escape.
 */
function encode(text: string, last: boolean): string {
  if (!/[\r\n]/.test(text)) return encodeLine(text, last);
  const lines = text.split(LINE_BREAK);
  return lines.map((line, i) => encodeLine(line, last || i < lines.length - 1)).join('\r\n');
}

function encodeLine(line: string, hardEnd: boolean): string {
  const quoted = line.toWellFormed().replace(/[^ -<>-~\t]/gu, quotedOctets);
  return wrap(hardEnd ? quoted.replace(/[ \t]$/, quotedOctets) : quoted);
}

/** Wraps an encoded line to at most 76 columns. */
function wrap(quoted: string): string {
  let out = '';
  for (let at = 0; ;) {
    const start = lineStart(quoted, at);
    const rest = at + (start === '' ? 0 : 1);
    const room = MAX_LINE_OCTETS - start.length;
    if (quoted.length - rest <= room) return out + start + quoted.slice(rest);
    const end = wholeCharacter(quoted, rest + room);
    out += start + quoted.slice(rest, end) + SOFT_BREAK;
    at = end;
  }
}

/** The replacement for the first character of a line; '' if it needs none. */
function lineStart(quoted: string, at: number): string {
  const first = quoted.charCodeAt(at);
  if (first === 0x2e) return '=2E';
  return first === 0x46 && quoted.startsWith('From ', at) ? '=46' : '';
}

/** The last character boundary at or before `end`: never inside `=XX` or a multi-byte sequence. */
function wholeCharacter(quoted: string, end: number): number {
  let cut = end;
  if (quoted[cut - 1] === '=') cut -= 1;
  else if (quoted[cut - 2] === '=') cut -= 2;
  while (quoted[cut] === '=' && /[89AB]/.test(quoted[cut + 1]!)) cut -= 3;
  return cut;
}

/** Encodes each UTF-8 octet of a character as `=XX`. */
export function quotedOctets(character: string): string {
  let out = '';
  for (const octet of Buffer.from(character)) out += `=${octet.toString(16).toUpperCase().padStart(2, '0')}`;
  return out;
}
