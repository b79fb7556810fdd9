import { quotedOctets } from './quoted-printable.ts';

/** The longest encoded word (RFC 2047 §2). */
const WORD = 75;
/** What stands around the text of a word: `=?UTF-8?Q?` and `?=`. */
const FRAME = 12;

/** The characters that stand for themselves in a Q word in any header, display names included (RFC 2047 §5). */
const Q_LITERAL = /[A-Za-z0-9!*+/-]/;

/**
 * Encodes text as RFC 2047 words on lines of 76 at most, joined by line breaks that vanish again. No character is
 * split between words. `used` is how much of the first line is taken.
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
  const lines = fill(characters, used, (character) => character.length, WORD - FRAME);
  return lines.map((line) => `=?UTF-8?Q?${line.join('')}?=`).join('\r\n ');
}

function base64Words(characters: string[], used: number): string {
  // Four characters for each three octets, so that a word of 63 holds 45.
  const lines = fill(characters, Math.ceil((used * 3) / 4), (character) => Buffer.byteLength(character), 45);
  return lines.map((line) => `=?UTF-8?B?${Buffer.from(line.join('')).toString('base64')}?=`).join('\r\n ');
}

/** Spreads characters over lines of `room`, the first of which has `used` less of it. */
function fill(characters: string[], used: number, size: (character: string) => number, room: number): string[][] {
  let line: string[] = [];
  const lines = [line];
  let left = room - used;
  for (const character of characters) {
    const need = size(character);
    if (need > left && line.length > 0) {
      line = [];
      lines.push(line);
      left = room;
    }
    line.push(character);
    left -= need;
  }
  return lines;
}
