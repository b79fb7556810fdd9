/** Lets a few through at a time; the others wait in line. */
export class Gate {
  #free: number;
  readonly #line: (() => void)[] = [];

  constructor(width: number) {
    this.#free = width;
  }

  async pass<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#line.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#line.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
