import { DomainError, restPath } from '@postroom/platform';

/** What a rule threw, with its fields named as the caller of `/v1` wrote them. */
export function inRestNames(error: unknown): unknown {
  if (!(error instanceof DomainError) || error.details.length === 0) return error;
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

/** A message that names fields of the request, as `/v1` names them. What it quotes is the caller's, and stays. */
function withNames(message: string, renamed: readonly (readonly [string, string])[]): string {
  return message
    .split(/("[^"]*")/)
    .map((part, index) => (index % 2 === 1 ? part : renamed.reduce(rename, part)))
    .join('');
}

/** Only names that no English word is: `fromEmail` is one, `first` is none. */
const rename = (text: string, [field, inRest]: readonly [string, string]) =>
  /[A-Z]/.test(field) ? text.replaceAll(field, inRest) : text;
