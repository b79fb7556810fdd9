/** Adds up the durations of some work between other waits, such as those for a mail server or a rate limit. */
export class Stopwatch {
  #measuredMs = 0;

  async measure<T>(work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    try {
      return await work();
    } finally {
      this.#measuredMs += performance.now() - began;
    }
  }

  /** @returns what was measured since the last call, in milliseconds. */
  take(): number {
    const measuredMs = this.#measuredMs;
    this.#measuredMs = 0;
    return measuredMs;
  }
}
