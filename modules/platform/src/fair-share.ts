/**
 * Shares so many slots between keys, such as projects, without waiting: a key may hold as many as it would leave free. So one
 * alone gets half of them, and however many keys take all that they can, the next one still finds a slot.
 */
export class FairShare {
  readonly #slots: number;
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(slots: number) {
    this.#slots = slots;
  }

  /** What gives the slot back; `undefined` when the key holds its share. */
  tryAcquire(key: string): (() => void) | undefined {
    const held = this.#held.get(key) ?? 0;
    if (held >= this.#slots - this.#total) return undefined;
    this.#total++;
    this.#held.set(key, held + 1);
    return () => {
      this.#total--;
      const left = (this.#held.get(key) ?? 1) - 1;
      if (left === 0) this.#held.delete(key);
      else this.#held.set(key, left);
    };
  }
}
