/** Collects the parameters of an SQL statement that is composed of parts. */
export class Parameters {
  readonly values: unknown[] = [];

  /** Adds a value and returns its placeholder, such as `$3`. */
  add(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}
