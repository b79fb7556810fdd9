import { MAX_EMAIL_LENGTH, MAX_ID_LENGTH, MAX_NAME_LENGTH } from './limits.ts';

/**
 * Adds constraints that GraphQL can't express to a field or input, for the OpenAPI document: `...jsonSchema({
 * maxItems: 10 })`.
 */
export const jsonSchema = (schema: Record<string, unknown>) => ({ extensions: { jsonSchema: schema } });

/** An input that may be omitted, but not be null: what it changes always has a value. `...notNull(NAME)` */
export const notNull = ({ extensions }: { extensions?: object } = {}) => ({
  extensions: { ...extensions, notNull: true },
});

export const rejectsNull = ({ extensions }: { extensions?: object | null | undefined }): boolean =>
  extensions != null && 'notNull' in extensions;

/** A JSON object with arbitrary members. */
export const JSON_OBJECT = jsonSchema({ type: 'object' });

/** A text of at most `maxLength` characters. */
export const atMost = (maxLength: number) => jsonSchema({ maxLength });

/**
 * What `oneLineProblem` rejects of ASCII. Patterns know no other characters: clients in some languages match bytes, and some can't
 * compile Unicode escapes.
 */
const ONE_LINE_PATTERN = '^[^\\x00-\\x1f\\x7f]*$';

/** A text for one line, such as a description. */
export const oneLine = (maxLength = MAX_NAME_LENGTH) => jsonSchema({ maxLength, pattern: ONE_LINE_PATTERN });

/** A display name that is given: not all blank. */
export const displayName = (maxLength = MAX_NAME_LENGTH) => ({
  minLength: 1,
  maxLength,
  pattern: '^[^\\x00-\\x1f\\x7f]*[^\\x00-\\x20\\x7f][^\\x00-\\x1f\\x7f]*$',
});
export const NAME = jsonSchema(displayName());

/** A list whose items have their own schema. */
export const listOf = (items: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  jsonSchema({ ...more, items: { type: 'string', ...items } });

/** A list of ids. */
export const IDS = listOf({ maxLength: MAX_ID_LENGTH });

/** A recipient address. */
export const ADDRESS = { format: 'email', maxLength: MAX_EMAIL_LENGTH };

/** An update that changes nothing is rejected. */
export const NOT_EMPTY = jsonSchema({ minProperties: 1 });
