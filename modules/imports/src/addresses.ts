/** 32-bit words of hash stored per address: with 96 bits, two of a million addresses collide once in 10¹⁷ files. */
const WORDS = 3;

/**
 * The addresses read so far, with their lines: 16 bytes per address, for up to `most` addresses. Finds duplicates
 * without the database, also in a dry run.
 */
export class SeenAddresses {
  readonly #mask: number;
  /** Per slot: three words of hash and the line. A line of 0 marks a free slot. */
  readonly #table: Uint32Array;
  readonly #hash = new Uint32Array(WORDS);

  constructor(most: number) {
    const places = 2 ** Math.ceil(Math.log2(Math.max(most, 1) * 1.5));
    this.#mask = places - 1;
    this.#table = new Uint32Array(places * (WORDS + 1));
  }

  /** Adds an address, as `emailKey` writes it; returns the line that already has it. */
  add(key: string, line: number): number | undefined {
    const [a = 0, b = 0, c = 0] = this.#hashOf(key);
    const table = this.#table;
    for (let place = a & this.#mask; ; place = (place + 1) & this.#mask) {
      const at = place * (WORDS + 1);
      const taken = table[at + WORDS];
      if (taken === 0) {
        table[at] = a;
        table[at + 1] = b;
        table[at + 2] = c;
        table[at + WORDS] = line;
        return undefined;
      }
      if (table[at] === a && table[at + 1] === b && table[at + 2] === c) return taken;
    }
  }

  /** Three FNV-1a rounds with different factors, computed together and finalized as in MurmurHash3. */
  #hashOf(key: string): Uint32Array {
    let [a, b, c] = [0x811c9dc5, 0x2f0b4c47, 0x5bd1e995];
    for (let index = 0; index < key.length; index++) {
      const code = key.charCodeAt(index);
      a = Math.imul(a ^ code, 0x01000193);
      b = Math.imul(b ^ code, 0x85ebca6b) + 1;
      c = Math.imul(c ^ code, 0xc2b2ae35) ^ (c >>> 15);
    }
    this.#hash[0] = finish(a);
    this.#hash[1] = finish(b);
    this.#hash[2] = finish(c);
    return this.#hash;
  }
}

function finish(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
