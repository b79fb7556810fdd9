/** Says of a field or an input what GraphQL can not, for the OpenAPI document: `...jsonSchema({ maxItems: 10 })`. */
export const jsonSchema = (schema: Record<string, unknown>) => ({ extensions: { jsonSchema: schema } });

/** A JSON value that is an object; which members it has is not known beforehand. */
export const JSON_OBJECT = jsonSchema({ type: 'object' });

/** What people call something: 1 to 200 characters, not all of them blank. */
export const NAME = jsonSchema({ minLength: 1, maxLength: 200, pattern: '\\S' });

/** A list whose items have a schema of their own. */
export const listOf = (items: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  jsonSchema({ ...more, items: { type: 'string', ...items } });

/** An address that mail is sent to. */
export const ADDRESS = { format: 'email', maxLength: 254 };

/** An update that changes nothing is refused. */
export const NOT_EMPTY = jsonSchema({ minProperties: 1 });
