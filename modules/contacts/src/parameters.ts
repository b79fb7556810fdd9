/** Collects the values of a statement that is put together from parts; each part gets its placeholders from here. */
export class Parameters {
  readonly values: unknown[] = [];

  /** The placeholder of a value, such as `$3`. */
  add(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

/** A LIKE pattern that finds the text as it is, wherever `%` is put around it. */
export const escapeLike = (text: string) => text.replace(/[\\%_]/g, '\\$&');
