/**
 * Adds constraints that GraphQL can't express to a field or input, for the OpenAPI document: `...jsonSchema({
 * maxItems: 10 })`.
 */
export const jsonSchema = (schema: Record<string, unknown>) => ({ extensions: { jsonSchema: schema } });

/** A JSON object with arbitrary members. */
export const JSON_OBJECT = jsonSchema({ type: 'object' });

/** A display name: 1 to 200 characters, not all blank. */
export const NAME = jsonSchema({ minLength: 1, maxLength: 200, pattern: '\\S' });

/** A list whose items have their own schema. */
export const listOf = (items: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  jsonSchema({ ...more, items: { type: 'string', ...items } });

/** A recipient address. */
export const ADDRESS = { format: 'email', maxLength: 254 };

/** An update that changes nothing is rejected. */
export const NOT_EMPTY = jsonSchema({ minProperties: 1 });
