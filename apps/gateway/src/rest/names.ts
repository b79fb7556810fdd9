import { DomainError, restPath, snakeCase } from '@postroom/platform';
import { isInputObjectType, isInterfaceType, isObjectType } from 'graphql';
import { schema } from '../schema.ts';
import { RequestError } from './input.ts';

/** Names that clients write in GraphQL and that differ in `/v1`: `groupIds`. Rules write them in messages too. */
const NAMES = new Map(
  Object.values(schema.getTypeMap())
    .flatMap((type) => {
      if (isInputObjectType(type)) return Object.keys(type.getFields());
      if (!isObjectType(type) && !isInterfaceType(type)) return [];
      return Object.values(type.getFields()).flatMap(({ args }) => args.map(({ name }) => name));
    })
    .filter((name) => /[A-Z]/.test(name))
    .map((name) => [name, snakeCase(name)]),
);

/** A header, such as `Idempotency-Key`, has the same name everywhere. */
const fieldInRest = (field: string) => (/^[A-Z]/.test(field) ? field : restPath(field));

/** Renames the fields in an error to their `/v1` names. */
export function renameFieldsInError(error: unknown): unknown {
  if (!(error instanceof DomainError) || error instanceof RequestError) return error;
  const { code, message } = error;
  const renamed = error.details.map(({ field }) => [field, fieldInRest(field)] as const);
  const details = error.details.map((detail) => ({
    ...detail,
    field: fieldInRest(detail.field),
    message: renameFieldsInMessage(detail.message, renamed),
  }));
  const [[first, firstInRest] = ['', '']] = renamed;
  const rest = first !== '' && message.startsWith(`${first}: `) ? message.slice(first.length) : undefined;
  const inRest =
    rest === undefined ? renameFieldsInMessage(message, renamed) : firstInRest + renameFieldsInMessage(rest, renamed);
  return inRest === message && details.length === 0 ? error : new DomainError(code, inRest, details);
}

/** Renames the fields in a message, except in quoted text, which is the caller's. `paths` are fields that it may mention. */
export function renameFieldsInMessage(message: string, paths: readonly (readonly [string, string])[] = []): string {
  return message
    .split(/("[^"]*")/)
    .map((part, index) => (index % 2 === 1 ? part : paths.reduce(renamePath, part).replaceAll(NAME, renameOne)))
    .join('');
}

/** Only renames paths that can't be English words: `fromEmail` is one, `first` is not. */
const renamePath = (text: string, [field, inRest]: readonly [string, string]) =>
  /[A-Z]/.test(field) ? text.replaceAll(field, inRest) : text;

/** A word that may be a name, but not a key in a path or a placeholder. */
const NAME = /(?<![.\w{])[a-z]+[A-Z]\w*/g;

const renameOne = (name: string) => NAMES.get(name) ?? name;
