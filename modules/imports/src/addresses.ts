/** Bits of a hash kept of each address: with 96 of them, two of a million addresses are the same once in 10¹⁷ files. */
const WORDS = 3;

/**
 * The addresses of a file so far, each with the line that it is in: 16 bytes an address, for up to as many as are said. Duplicates
 * are found without asking the database, also in a dry run.
 */
export class SeenAddresses {
  readonly #mask: number;
  /** Of each place: three words of hash and the line; a line of 0 is a free place. */
  readonly #table: Uint32Array;
  readonly #hash = new Uint32Array(WORDS);

  constructor(most: number) {
    const places = 2 ** Math.ceil(Math.log2(Math.max(most, 1) * 1.5));
    this.#mask = places - 1;
    this.#table = new Uint32Array(places * (WORDS + 1));
  }

  /** Notes an address, as `emailKey` writes it; returns the line that has it already. */
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

  /** Three rounds of FNV-1a at once, of different factors, each finished as MurmurHash3 does. */
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
