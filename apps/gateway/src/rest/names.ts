import { DomainError, restPath } from '@postroom/platform';
import { RequestError } from './input.ts';

/** Renames the fields in an error to their `/v1` names. */
export function inRestNames(error: unknown): unknown {
  if (!(error instanceof DomainError) || error instanceof RequestError || error.details.length === 0) return error;
  const { code, message } = error;
  const renamed = error.details.map(({ field }) => [field, restPath(field)] as const);
  const details = error.details.map((detail) => ({
    ...detail,
    field: restPath(detail.field),
    message: withNames(detail.message, renamed),
  }));
  const [[first, firstInRest] = ['', '']] = renamed;
  const rest = message.startsWith(`${first}: `) ? message.slice(first.length) : undefined;
  return new DomainError(
    code,
    rest === undefined ? withNames(message, renamed) : firstInRest + withNames(rest, renamed),
    details,
  );
}

/** Renames the fields in a message, except in quoted text, which is the caller's. */
function withNames(message: string, renamed: readonly (readonly [string, string])[]): string {
  return message
    .split(/("[^"]*")/)
    .map((part, index) => (index % 2 === 1 ? part : renamed.reduce(rename, part)))
    .join('');
}

/** Only renames names that can't be English words: `fromEmail` is one, `first` is not. */
const rename = (text: string, [field, inRest]: readonly [string, string]) =>
  /[A-Z]/.test(field) ? text.replaceAll(field, inRest) : text;
