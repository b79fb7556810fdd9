import { databaseNow } from '@postroom/clock';
/** Collects the parameters of an SQL statement that is composed of parts. */
export class Parameters {
  readonly values: unknown[] = [];
  /** Whether the statement reads a few contacts by id, so that what is known of each is best looked up by index. */
  readonly fewContacts: boolean;
  /** Conditions on days and on what happened are evaluated as of this time; undefined for now. */
  readonly asOf: Date | undefined;

  constructor({ fewContacts = false, asOf }: { fewContacts?: boolean; asOf?: Date } = {}) {
    this.fewContacts = fewContacts;
    this.asOf = asOf;
  }

  daysAgo = (days: number): Date => new Date((this.asOf?.getTime() ?? databaseNow()) - days * 86_400_000);

  /** Adds a value and returns its placeholder, such as `$3`. */
  add(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}
