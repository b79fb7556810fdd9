import { DomainError } from '@postroom/platform';

const snakeNames = new Map<string, string>();

/** `contactIds` → `contact_ids`: requests of `/v1` are in snake_case, GraphQL is not. */
export function snakeCase(name: string): string {
  let snake = snakeNames.get(name);
  if (snake === undefined) {
    snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    snakeNames.set(name, snake);
  }
  return snake;
}

/** What GraphQL calls otherwise than `/v1`. */
const RENAMED = new Map([
  ['first', 'limit'],
  ['after', 'cursor'],
]);

/**
 * A path of GraphQL as `/v1` names it: `contacts.3.customFields.ageYears` → `contacts.3.custom_fields.ageYears`. Only
 * names of ours change: the first, and one after an index; keys inside a JSON value stay as the caller wrote them.
 */
function restPath(path: string): string {
  const segments = path.split('.');
  return segments
    .map((segment, index) => {
      const ours = index === 0 || /^\d+$/.test(segments[index - 1] ?? '');
      return ours ? (RENAMED.get(segment) ?? snakeCase(segment)) : segment;
    })
    .join('.');
}

/** What a rule threw, with its fields named as the caller of `/v1` wrote them. */
export function inRestNames(error: unknown): unknown {
  if (!(error instanceof DomainError) || error.details.length === 0) return error;
  const details = error.details.map(({ field, message }) => ({ field: restPath(field), message }));
  const [before, after] = [error.details[0]?.field, details[0]?.field];
  const message = error.message.startsWith(`${before}: `)
    ? `${after}${error.message.slice(before?.length)}`
    : error.message;
  return new DomainError(error.code, message, details);
}
