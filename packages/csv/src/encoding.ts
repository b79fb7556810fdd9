/** Replaces a byte that is invalid in the encoding. */
export const REPLACEMENT = '\uFFFD';
const REPLACEMENT_CODE = 0xfffd;
/** The second half of a surrogate pair; the first half has been counted. */
const LOW_SURROGATE = 0xdc00;

/**
 * Detects the encoding of a file that arrives in parts: by its byte order mark, else UTF-16 by its zero bytes, else
 * UTF-8 if most of it is valid, else the legacy encoding that yields the most plausible words.
 */
export class EncodingDetector {
  readonly #utf8 = new TextDecoder('utf-8');
  #first: Uint8Array = new Uint8Array();
  /** Bytes that are not valid UTF-8; the legacy encodings are tried on these. */
  readonly #odd: Uint8Array[] = [];
  #oddBytes = 0;
  /** Non-ASCII characters, and invalid bytes, when everything is read as UTF-8. */
  #good = 0;
  #broken = 0;

  add(bytes: Uint8Array): void {
    if (this.#first.length === 0) this.#first = bytes.subarray(0, 4096);
    this.#count(this.#utf8.decode(bytes, { stream: true }));
    if (this.#broken > 0 && this.#oddBytes < MAX_SAMPLE) this.#keepOdd(bytes);
  }

  /** The encoding, as a label that TextDecoder knows. */
  end(): string {
    this.#count(this.#utf8.decode());
    const unicode = byMark(this.#first) ?? utf16ByZeros(this.#first);
    if (unicode !== undefined) return unicode;
    // A few invalid bytes among many valid characters are damage, reported by row; otherwise it is not UTF-8.
    return this.#broken === 0 || this.#good > this.#broken ? 'utf-8' : likeliestLegacy(this.#odd);
  }

  #count(text: string): void {
    if (!BEYOND_ASCII.test(text)) return;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === REPLACEMENT_CODE) this.#broken++;
      else if (code > 0x7f && (code & 0xfc00) !== LOW_SURROGATE) this.#good++;
    }
  }

  #keepOdd(bytes: Uint8Array): void {
    const from = Math.max(
      bytes.findIndex((byte) => byte > 0x7f),
      0,
    );
    const part = bytes.slice(from, from + MAX_SAMPLE - this.#oddBytes);
    this.#odd.push(part);
    this.#oddBytes += part.length;
  }
}

const BEYOND_ASCII = /[^\0-\x7f]/;
const MAX_SAMPLE = 64 * 1024;

function byMark([a, b, c]: Uint8Array): string | undefined {
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8';
  if (a === 0xff && b === 0xfe) return 'utf-16le';
  if (a === 0xfe && b === 0xff) return 'utf-16be';
  return undefined;
}

function utf16ByZeros(sample: Uint8Array): string | undefined {
  let [even, odd] = [0, 0];
  sample.forEach((byte, index) => {
    if (byte !== 0) return;
    if (index % 2 === 0) even++;
    else odd++;
  });
  if (Math.max(even, odd) <= sample.length / 5) return undefined;
  return odd > even ? 'utf-16le' : 'utf-16be';
}

/** Encodings that spreadsheets use without Unicode, most common first. */
const LEGACY = [
  'windows-1252',
  'windows-1250',
  'windows-1251',
  'windows-1253',
  'shift_jis',
  'euc-kr',
  'gb18030',
] as const;

/** A plausible non-ASCII word: letters of one script, with no lower-case letter before a capital. */
const WORDS = [
  /^[\p{Script=Latin}\p{M}'’.-]+$/u,
  /^(?=.*[аеёиоуыэюяіїє])[\p{Script=Cyrillic}'’.-]+$/iu, // Greek that is read as Cyrillic is all consonants
  /^[\p{Script=Greek}'’.-]+$/u,
  /^[\p{Script=Han}\p{Script=Hiragana}ァ-ヿ]+$/u,
  /^\p{Script=Hangul}+$/u,
];
/** Cyrillic read as Latin is all accents, and in the wrong code page its capitals come last. */
const UNLIKELY = /[\u0080-\u024f]{3}|\p{Ll}\p{Lu}/u;

/** The encoding that yields the most plausible words; Windows-1252 if there is no evidence. */
function likeliestLegacy(parts: readonly Uint8Array[]): string {
  const shares = LEGACY.map((encoding) => {
    const text = parts.map((part) => new TextDecoder(encoding).decode(part)).join(' ');
    const words = text.match(/[^\s,;|"<>()]*[^\0-\x7f\s,;|"<>()][^\s,;|"<>()]*/g) ?? [];
    return words.filter(isWord).length / Math.max(1, words.length);
  });
  return LEGACY[shares.indexOf(Math.max(...shares))] ?? LEGACY[0];
}

const isWord = (text: string) => WORDS.some((word) => word.test(text)) && !UNLIKELY.test(text);
