import { expect, test } from 'vitest';
import { cleanLine, cleanText } from '../src/index.ts';

test.each(['\0', '\u0007', '\u001b', '\u0085', '\u061c', '\u200e', '\u200f', '\u2028', '\u202e', '\u2066', '\u2069'])(
  'a line has no characters that control or reorder the text around it (%j)',
  (character) => {
    expect(cleanLine(`550 5.1.1 before${character}${character}after${character}`)).toBe('550 5.1.1 before after');
  },
);

test('a line has a maximum length, and no half of a character', () => {
  expect(cleanLine('a'.repeat(500))).toBe('a'.repeat(500));
  expect(cleanLine('a'.repeat(501))).toBe(`${'a'.repeat(499)}…`);
  expect(cleanLine('ab😀cd', 4)).toBe('ab…');
  expect(cleanLine(`a${' '.repeat(3_998)}😀`)).toBe('a \uFFFD');
  expect(cleanLine('a\ud83d')).toBe('a\uFFFD');
});

test('a text keeps its lines, its tabs and its marks, and shows where other characters were', () => {
  expect(cleanText('a\tb\r\nc\u200f\u2028d')).toBe('a\tb\r\nc\u200f\u2028d');
  expect(cleanText('\0a\u001bb\u007fc\u009b\u202ed\u2069')).toBe('\uFFFDa\uFFFDb\uFFFDc\uFFFD\uFFFDd\uFFFD');
});
