import { hash, randomBytes } from 'node:crypto';

/** 32-bit words of hash stored per address: with 96 bits, two of a million addresses collide once in 10¹⁷ files. */
const WORDS = 3;

/**
 * A secret of the process, hashed together with each address. Otherwise the author of a file could choose addresses that all belong in one
 * slot, and each search would visit all of them.
 */
const SALT = randomBytes(16).toString('base64');

/**
 * The addresses read so far, with their lines: 16 bytes per address, for up to `most` addresses. Finds duplicates
 * without the database, also in a dry run.
 */
export class SeenAddresses {
  /** The most slots that a search has visited. */
  longestSearch = 0;
  readonly #mask: number;
  /** Per slot: three words of hash and the line. A line of 0 marks a free slot. */
  readonly #table: Uint32Array;

  constructor(most: number) {
    const places = 2 ** Math.ceil(Math.log2(Math.max(most, 1) * 1.5));
    this.#mask = places - 1;
    this.#table = new Uint32Array(places * (WORDS + 1));
  }

  /** Adds an address, as `emailKey` writes it; returns the line that already has it. */
  add(key: string, line: number): number | undefined {
    const digest = hash('sha1', SALT + key, 'buffer');
    const [a, b, c] = [digest.readUInt32LE(0), digest.readUInt32LE(4), digest.readUInt32LE(8)];
    const table = this.#table;
    for (let visited = 1, place = a & this.#mask; ; visited++, place = (place + 1) & this.#mask) {
      if (visited > this.longestSearch) this.longestSearch = visited;
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
}
