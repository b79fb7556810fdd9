/**
 * Shares slots between keys, such as projects, without waiting. A key may hold at most as many as it leaves free,
 * so a single key gets half, and however many keys hold their share, the next one still finds a slot.
 */
export class FairShare {
  readonly #slots: number;
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(slots: number) {
    this.#slots = slots;
  }

  /** Returns the slot's release function; `undefined` if the key already holds its share. */
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
