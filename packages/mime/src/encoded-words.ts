import { quotedOctets } from './quoted-printable.ts';

/** Maximum length of an encoded word (RFC 2047 §2). */
const MAX_WORD_LENGTH = 75;
/** Length of `=?UTF-8?Q?` and `?=`. */
const WORD_OVERHEAD = 12;

/** Characters that required no quoting in a Q-encoded word in any header, display names included (RFC 2047 §5). */
const Q_LITERAL = /[A-Za-z0-9!*+/-]/;

/**
 * Encodes text as RFC 2047 encoded words, folded to lines of at most 76 characters. Never splits a character between words.
 * `used` is the number of columns already taken on the first line.
 */
export function encodeWords(text: string, used: number): string {
  const wellFormed = text.toWellFormed();
  const characters = [...wellFormed].map(quote);
  const quotedLength = characters.reduce((sum, character) => sum + character.length, 0);
  const base64Length = Math.ceil(Buffer.byteLength(wellFormed) / 3) * 4;
  return quotedLength <= base64Length ? quotedWords(characters, used) : base64Words([...wellFormed], used);
}

function quote(character: string): string {
  if (Q_LITERAL.test(character)) return character;
  return character === ' ' ? '_' : quotedOctets(character);
}

function quotedWords(characters: string[], used: number): string {
  const lines = fill(characters, used, (character) => character.length, MAX_WORD_LENGTH - WORD_OVERHEAD);
  return lines.map((line) => `=?UTF-8?Q?${line.join('')}?=`).join('\r\n ');
}

function base64Words(characters: string[], used: number): string {
  // Base64 needs four characters per three octets, so a word holds 45 octets.
  const lines = fill(characters, Math.ceil((used * 3) / 4), (character) => Buffer.byteLength(character), 45);
  return lines.map((line) => `=?UTF-8?B?${Buffer.from(line.join('')).toString('base64')}?=`).join('\r\n ');
}

/** Distributes characters over lines of size `room`; the first line has `used` less. */
function fill(characters: string[], used: number, size: (character: string) => number, room: number): string[][] {
  let line: string[] = [];
  const lines = [line];
  let remaining = room - used;
  for (const character of characters) {
    const required = size(character);
    if (required > remaining && line.length > 0) {
      line = [];
      lines.push(line);
      remaining = room;
    }
    line.push(character);
    remaining -= required;
  }
  return lines;
}
