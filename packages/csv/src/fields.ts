/** The types that a column's values can be guessed to have. */
type GuessedType = 'text' | 'number' | 'boolean' | 'date' | 'select';

const MAX_KEY_LENGTH = 40;
/**
 * Built-in placeholder names, in lower case, which custom fields can't use: those of all mail, `event` and `steps` of journeys, and
 * `form_title` and `confirm_url` of the email that confirms a subscription.
 */
export const RESERVED_KEYS: ReadonlySet<string> = new Set([
  'id',
  'email',
  'name',
  'unsubscribe_url',
  'view_in_browser_url',
  'postal_address',
  'event',
  'steps',
  'form_title',
  'confirm_url',
]);

/** A key of at most 40 lower-case letters, digits and `_`, such as `vip_kunde` from `VIP-Kunde`; blank if the name has no Latin letters. */
export function keyFrom(name: string): string {
  const latin = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('ß', 'ss');
  return latin
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[_0-9]+/, '')
    .slice(0, MAX_KEY_LENGTH)
    .replace(/_+$/, '');
}

/** A unique key of lower-case letters, digits and `_`. */
export function keyFor(name: string, column: number, taken: ReadonlySet<string>): string {
  const plain = keyFrom(name);
  const wanted = plain === '' ? `column_${column + 1}` : RESERVED_KEYS.has(plain) ? `csv_${plain}` : plain;
  return taken.has(wanted) ? `${wanted}_${column + 1}` : wanted;
}

/** Turns `signed_up` into a readable label. */
export function labelFor(name: string, column: number): string {
  const words = name.trim().replaceAll('_', ' ');
  return words === '' ? `Column ${column + 1}` : `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

const NUMBER = /^-?(0|[1-9]\d{0,14})(\.\d+)?$/;
const DATE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
/** A date however written: `04/03/2026`, `4.3.2026`, `2026/03/04`, `March 4, 2026` and `4 Mar 2026`, also with a time. */
const ANY_DATE =
  /^((\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{4}[-/.]\d{1,2}[-/.]\d{1,2})|(\d{1,2}\.? )?\p{L}{3,9}\.? (\d{1,2},? )?\d{4})([T ,]+\d.*)?$/u;
const BOOLEAN = /^(true|false|yes|no)$/i;
/** The share of values that must fit a type for a column to get it; the others are reported as errors. */
const MOST = 0.95;
const MAX_OPTIONS = 12;
const MAX_OPTION_LENGTH = 40;

/** Collects any number of column values and guesses their type. */
export class TypeGuess {
  #values = 0;
  #numbers = 0;
  #dates = 0;
  /** Dates in other forms, which no field of the type date takes from a file, or only without their time. */
  #otherDates = 0;
  #booleans = 0;
  /** Values such as postcodes start with zeros, which a number would lose. */
  #hasLeadingZero = false;
  /** `undefined` when there are too many values, or too long ones, for a select. */
  #options: Set<string> | undefined = new Set();

  add(value: string): void {
    if (value === '') return;
    this.#values++;
    if (NUMBER.test(value)) this.#numbers++;
    else if (DATE.test(value)) this.#dates++;
    else if (BOOLEAN.test(value)) this.#booleans++;
    else if (value.length <= MAX_OPTION_LENGTH && ANY_DATE.test(value)) this.#otherDates++;
    this.#hasLeadingZero ||= /^0\d/.test(value);
    this.#options?.add(value);
    if (value.length > MAX_OPTION_LENGTH || (this.#options?.size ?? 0) > MAX_OPTIONS) this.#options = undefined;
  }

  /** The number of values that are not blank. */
  get values(): number {
    return this.#values;
  }

  /** Whether the values are dates, of which too many are not written as 2026-03-04 for a field of the type date. */
  get hasOtherDates(): boolean {
    const most = this.#values * MOST;
    return this.#otherDates > 0 && this.#dates < most && this.#dates + this.#otherDates >= most;
  }

  /** The type that most values fit; a few repeating values become select options. */
  get type(): { type: GuessedType; options?: string[] } {
    const most = this.#values * MOST;
    if (this.#numbers >= most && !this.#hasLeadingZero) return { type: 'number' };
    if (this.#dates >= most) return { type: 'date' };
    if (this.#booleans >= most) return { type: 'boolean' };
    if (this.hasOtherDates) return { type: 'text' };
    const options = this.#options;
    if (options !== undefined && this.#values >= options.size * 5)
      return { type: 'select', options: [...options].sort() };
    return { type: 'text' };
  }
}
