import { invalid } from './errors.ts';
import { textProblem } from './text-problems.ts';

/** Maximum JSON nesting. Deeper values are attacks on recursive code, not data. */
const MAX_JSON_DEPTH = 100;

/** Larger integers lose digits when parsed. */
export const MAX_NUMBER = Number.MAX_SAFE_INTEGER;

/** Describes why a number would be stored changed; `undefined` if it is safe. */
export function numberProblem(value: number): string | undefined {
  return Math.abs(value) <= MAX_NUMBER
    ? undefined
    : `must be a number between -${MAX_NUMBER} and ${MAX_NUMBER}; send a larger one as text`;
}

/** Finds the first value in a JSON tree that can't be stored unchanged; returns its path and the problem. */
export function jsonProblem(value: unknown, depth = 0): { path: string; message: string } | undefined {
  if (typeof value === 'string' || typeof value === 'number') {
    const message = typeof value === 'string' ? textProblem(value) : numberProblem(value);
    return message === undefined ? undefined : { path: '', message };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === MAX_JSON_DEPTH) return { path: '', message: `is nested more than ${MAX_JSON_DEPTH} levels deep` };
  const isList = Array.isArray(value);
  for (const key in value) {
    const inKey = isList ? undefined : textProblem(key);
    if (inKey !== undefined) return { path: '', message: `has a key that ${inKey}` };
    const problem = jsonProblem((value as Record<string, unknown>)[key], depth + 1);
    if (problem !== undefined) return { ...problem, path: problem.path === '' ? key : `${key}.${problem.path}` };
  }
  return undefined;
}

/**
 * Checks that a value is an object that can be stored unchanged, and returns it.
 * @param maxLength in characters of JSON.
 * @throws DomainError `validation_error` naming the field or a path below it.
 */
export function checkJsonObject(field: string, given: unknown, maxLength: number): Record<string, unknown> {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw invalid({ field, message: 'must be an object' });
  const problem = jsonProblem(given);
  if (problem !== undefined)
    throw invalid({ field: problem.path === '' ? field : `${field}.${problem.path}`, message: problem.message });
  if (JSON.stringify(given).length > maxLength)
    throw invalid({ field, message: `must be at most ${maxLength} characters of JSON` });
  return given as Record<string, unknown>;
}

/** The first problem of a value that should be one address or a list of them, and its path, as `jsonProblem`. */
export function addressesProblem(value: unknown): { path: string; message: string } | undefined {
  if (typeof value !== 'string' && !Array.isArray(value))
    return { path: '', message: 'must be an address or a list of addresses' };
  const items = [value].flat() as unknown[];
  const wrong = items.findIndex((item) => typeof item !== 'string');
  if (wrong === -1) return jsonProblem(value);
  return { path: String(wrong), message: items[wrong] === null ? 'must not be null' : 'must be a string' };
}
