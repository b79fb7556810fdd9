import { expect, test } from 'vitest';
import { EncodingDetector } from '../src/encoding.ts';

/** Encodes text in a single-byte code page. */
function encode(text: string, encoding: string): Buffer {
  const decoder = new TextDecoder(encoding);
  const bytes = new Map(Array.from({ length: 256 }, (_, byte) => [decoder.decode(Uint8Array.of(byte)), byte]));
  return Buffer.from([...text].map((character) => bytes.get(character) as number));
}

function detect(bytes: Buffer, size = bytes.length): string {
  const detector = new EncodingDetector();
  for (let at = 0; at < bytes.length; at += size) detector.add(bytes.subarray(at, at + size));
  return detector.end();
}

test.each([
  ['windows-1252', 'email;Name\nzoe@example.com;Zoé “€” Müller\nbego@example.com;Begoña Gonçalves\n'],
  ['windows-1250', 'email;Imię\nlukasz@example.pl;Łukasz Żółć\npetr@example.cz;Petr Dvořák\n'],
  ['windows-1251', 'email;Имя\nanna@example.com;Анна Щербакова\nboris@example.com;Борис Иванов\n'],
  ['windows-1253', 'email;Όνομα\ngiorgos@example.gr;Γιώργος Παπαδόπουλος\n'],
])('%s is told by what makes words of the file', (encoding, text) => {
  expect(detect(encode(text, encoding))).toBe(encoding);
});

test.each([
  ['shift_jis', '656d61696c0a', '8e52936320 91be9859 0a 8dc2 96d8 2089d48e71'],
  ['gb18030', '656d61696c0a', 'cdf5d0a1c3f7 0a c0eec0d7 0a d5c5cea8'],
  ['euc-kr', '656d61696c0a', 'b1e8c3b6bcf6 0a c0ccbfb5c8f1'],
])('%s is told by what makes words of the file', (encoding, header, names) => {
  expect(detect(Buffer.from((header + names).replaceAll(' ', ''), 'hex'))).toBe(encoding);
});

test('characters split between two parts of the file are decoded correctly', () => {
  for (const size of [1, 2, 3, 4097]) {
    expect(detect(Buffer.from('email,name\nzoe@example.com,Zoé ☕ 😀\n'.repeat(300)), size)).toBe('utf-8');
    expect(detect(encode('zoe@example.com,Zoé\n'.repeat(300), 'windows-1252'), size)).toBe('windows-1252');
  }
});

test('non-ASCII characters may first occur late in a file', () => {
  const ascii = Buffer.from('ann@example.com,Ann\n'.repeat(10_000));
  expect(detect(Buffer.concat([ascii, Buffer.from('zoe@example.com,Zoé\n')]), 65_536)).toBe('utf-8');
  expect(detect(Buffer.concat([ascii, encode('анна@example.com,Анна\n', 'windows-1251')]), 65_536)).toBe(
    'windows-1251',
  );
});
