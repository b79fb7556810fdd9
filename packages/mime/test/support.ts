import PostalMime from 'postal-mime';
import type { Email } from 'postal-mime';
import { expect } from 'vitest';

/** Invariants of every message, checked with an independent parser. Test-only. */
export async function parseStrictly(message: string | Buffer): Promise<Email> {
  const octets = typeof message === 'string' ? Buffer.from(message, 'latin1') : message;
  const raw = octets.toString('latin1');
  expect(raw.endsWith('\r\n')).toBe(true);
  expect(raw.replaceAll('\r\n', ''), 'bare CR, LF or NUL').not.toMatch(/[\r\n\0]/);
  const lines = raw.split('\r\n');
  const body = lines.indexOf('');
  for (const [i, line] of lines.entries()) {
    expect(line.length, line).toBeLessThanOrEqual(i < body ? 998 : 76);
    if (i < body) expect(line, 'a line of a header without text').toMatch(/\S/);
    if (line.includes('=?UTF-8?')) expect(line.length, line).toBeLessThanOrEqual(76);
    for (const word of line.match(/=\?UTF-8\?[BQ]\?[^?]*\?=/g) ?? []) expectWholeCharacters(word);
  }
  return PostalMime.parse(octets);
}

function expectWholeCharacters(word: string): void {
  expect(word.length).toBeLessThanOrEqual(75);
  const [, , encoding, payload] = word.split('?') as [string, string, string, string];
  const octets =
    encoding === 'B'
      ? Buffer.from(payload, 'base64')
      : Buffer.from(
          payload.replaceAll('_', ' ').replace(/=(..)/g, (_, hex) => String.fromCharCode(parseInt(hex, 16))),
          'latin1',
        );
  expect(
    () => new TextDecoder('utf-8', { fatal: true }).decode(octets),
    'a character split between words',
  ).not.toThrow();
}

/** As parsers return it: LF line endings, and none at the end. */
export function lf(text: string | undefined): string {
  return (text ?? '').replace(/\r\n|\r/g, '\n').replace(/\n+$/, '');
}

/** Deterministic pseudo-random numbers below `below`. */
export function seededRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => (state = (state * 48271) % 2147483647) % below;
}
