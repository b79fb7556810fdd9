/** Collects the parameters of an SQL statement that is composed of parts. */
export class Parameters {
  readonly values: unknown[] = [];
  /** Whether the statement reads a few contacts by id, so that what is known of each is best looked up by index. */
  readonly fewContacts: boolean;

  constructor({ fewContacts = false } = {}) {
    this.fewContacts = fewContacts;
  }

  /** Adds a value and returns its placeholder, such as `$3`. */
  add(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}
