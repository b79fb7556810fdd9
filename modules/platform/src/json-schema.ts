import { MAX_EMAIL_LENGTH, MAX_ID_LENGTH, MAX_NAME_LENGTH } from './limits.ts';

/**
 * Adds constraints that GraphQL can't express to a field or input, for the OpenAPI document: `...jsonSchema({
 * maxItems: 10 })`.
 */
export const jsonSchema = (schema: Record<string, unknown>) => ({ extensions: { jsonSchema: schema } });

/** A JSON object with arbitrary members. */
export const JSON_OBJECT = jsonSchema({ type: 'object' });

/** A text of at most `maxLength` characters. */
export const atMost = (maxLength: number) => jsonSchema({ maxLength });

/** A display name that is given: not all blank. */
export const NAME = jsonSchema({ minLength: 1, maxLength: MAX_NAME_LENGTH, pattern: '\\S' });

/** A list whose items have their own schema. */
export const listOf = (items: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  jsonSchema({ ...more, items: { type: 'string', ...items } });

/** A list of ids. */
export const IDS = listOf({ maxLength: MAX_ID_LENGTH });

/** A recipient address. */
export const ADDRESS = { format: 'email', maxLength: MAX_EMAIL_LENGTH };

/** An update that changes nothing is rejected. */
export const NOT_EMPTY = jsonSchema({ minProperties: 1 });
