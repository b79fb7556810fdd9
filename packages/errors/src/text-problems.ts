import { type FieldProblem, invalid } from './errors.ts';

/** Maximum length of a name, in characters. */
export const MAX_NAME_LENGTH = 200;
/** Maximum length of the name of a custom event, in characters. */
export const MAX_EVENT_NAME_LENGTH = 100;

/** Describes why PostgreSQL can't store a text; `undefined` if it can. */
export function textProblem(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain the NUL character';
  if (!text.isWellFormed()) return 'must be well-formed Unicode (it has half a surrogate pair)';
  return undefined;
}

/**
 * The form in which names and the like are stored, compared and searched: without surrounding space, and composed (NFC), because macOS and
 * some keyboards write `ë` as two characters, which look the same.
 */
export const normalizeText = (text: string): string => text.trim().normalize();

/** Characters that end a line or control a terminal. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;
/** Characters that reorder the text around a name. Marks that only set the direction of their neighbors are part of names. */
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/;
const EVERY_REORDERING = new RegExp(REORDERING, 'g');
const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]/u;

const codePoint = (character: string) =>
  `U+${(character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}`;

/**
 * Describes why a text can't be shown where a name is: in a list, in a subject, in a header or in the text of our own mail, where a
 * line break would let its writer add lines in our name. `undefined` if it can; a blank text can.
 */
export function oneLineProblem(text: string, maxLength: number): string | undefined {
  if (normalizeText(text).length > maxLength) return `must be at most ${maxLength} characters`;
  const problem = textProblem(text);
  if (problem !== undefined) return problem;
  const [control] = CONTROL.exec(text) ?? [];
  if (control !== undefined) return `must be one line without control characters (it has ${codePoint(control)})`;
  const [reordering] = REORDERING.exec(text) ?? [];
  if (reordering !== undefined)
    return `must not change the direction of the text around it (it has ${codePoint(reordering)})`;
  return text.trim() === '' || VISIBLE.test(text) ? undefined : 'must have a visible character';
}

/** What `oneLineProblem` finds in texts, by field. */
export const oneLineProblems = (texts: Texts, maxLength = MAX_NAME_LENGTH): FieldProblem[] =>
  problemsOf(texts, (text) => oneLineProblem(text, maxLength));

/** Describes why a text can't be the name of something; `undefined` if it can. Surrounding space does not count. */
export function displayNameProblem(name: string, maxLength = MAX_NAME_LENGTH): string | undefined {
  return name.trim() === '' ? 'is required' : oneLineProblem(name, maxLength);
}

/** What `displayNameProblem` finds in names, by field. */
export const displayNameProblems = (names: Texts, maxLength = MAX_NAME_LENGTH): FieldProblem[] =>
  problemsOf(names, (name) => displayNameProblem(name, maxLength));

type Texts = Record<string, string | null | undefined>;

/** The problems of the texts that are given. */
function problemsOf(texts: Texts, problemOf: (text: string) => string | undefined): FieldProblem[] {
  return Object.entries(texts).flatMap(([field, text]) => {
    const message = text == null ? undefined : problemOf(text);
    return message === undefined ? [] : [{ field, message }];
  });
}

/**
 * Normalizes and validates the name of something. Every name that a user or a customer chooses goes through it or `displayNameProblem`.
 * @throws DomainError `validation_error` that names the field.
 */
export function checkDisplayName(name: string, field = 'name', maxLength = MAX_NAME_LENGTH): string {
  const problem = displayNameProblem(name, maxLength);
  if (problem !== undefined) throw invalid({ field, message: problem });
  return normalizeText(name);
}

/** Removes what `oneLineProblem` rejects for changing the direction of text, for text that other programs wrote. */
export const withoutReordering = (text: string): string => text.replace(EVERY_REORDERING, '');
