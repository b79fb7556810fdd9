import { HtmlScanner } from './html-scanner.ts';
import { decodeEntities } from './entities.ts';

/** The output format, which decides how values are escaped. A subject is one line. */
export type TemplateFormat = 'subject' | 'text' | 'html';

/**
 * The escaping context of a variable. `url` is the start of a link, `url-address` the rest of a mailto or tel link,
 * `url-path` and `url-query` the rest of any other link. At `nowhere` no value is safe: nothing is shown, and the
 * template has a problem. `ready` is only for system values that are already escaped.
 */
export type Context =
  | 'subject'
  | 'text'
  | 'html'
  | 'css'
  | 'url'
  | 'url-address'
  | 'url-path'
  | 'url-query'
  | 'ready'
  | 'nowhere';

export interface Variable {
  readonly name: string;
  /** Plain text to use when the value is missing or empty; `undefined` if the author gave none. */
  readonly fallback: string | undefined;
  readonly context: Context;
  /** Offset of its `{{` in the source. */
  readonly position: number;
}

export interface TemplateProblem {
  readonly message: string;
  readonly position: number;
  /** Counted from 1. */
  readonly line: number;
  readonly column: number;
}

/** A parsed template: `statics[0] variables[0] statics[1] … statics[n]`. */
export interface Template {
  readonly format: TemplateFormat;
  readonly source: string;
  readonly statics: readonly string[];
  readonly variables: readonly Variable[];
  /** Empty in a valid template. */
  readonly problems: readonly TemplateProblem[];
}

/** Maximum number of placeholders: each adds work for every recipient. */
export const MAX_VARIABLES = 10_000;
/** Maximum number of problems reported; one is enough to prevent sending. */
const MAX_PROBLEMS = 100;

const PLACEHOLDER = /^\s*([A-Za-z_][\w.-]*)\s*(?:\|(.*))?$/s;
const QUOTED = /^(["'])(.*)\1$/s;

/**
 * Parses `{{name}}`, `{{name|there}}` and `{{ name | default: "there" }}`. Invalid placeholders are left unchanged and
 * reported.
 */
export function parseTemplate(source: string, format: TemplateFormat): Template {
  const statics: string[] = [];
  const variables: Variable[] = [];
  const found: Omit<TemplateProblem, 'line' | 'column'>[] = [];
  const report = (position: number, message: string) => void found.push({ message, position });
  const scanner = format === 'html' ? new HtmlScanner(report) : undefined;

  let staticStart = 0;
  let end = -1;
  let at = source.indexOf('{{');
  while (at !== -1 && found.length < MAX_PROBLEMS) {
    if (variables.length === MAX_VARIABLES) {
      report(at, `A template has at most ${MAX_VARIABLES} placeholders.`);
      break;
    }
    // Searched only once: many braces may open before the next ones close.
    if (end < at + 2) end = indexFrom(source, '}}', at + 2);
    const nested = source.indexOf('{{', at + 2);
    if (end === Infinity || (nested !== -1 && nested < end && source[at + 2] !== '{')) {
      report(at, 'This placeholder is not closed by "}}".');
      at = nested;
      continue;
    }
    const inside = source.slice(at + 2, end);
    const parsed = parsePlaceholder(format === 'html' ? decodeEntities(inside) : inside);
    if (typeof parsed === 'string') {
      report(at, parsed);
    } else {
      const text = source.slice(staticStart, at);
      scanner?.read(text);
      statics.push(text);
      variables.push({
        ...parsed,
        context: scanner ? scanner.place(at) : (format as 'subject' | 'text'),
        position: at,
      });
      staticStart = end + 2;
    }
    at = source.indexOf('{{', end + 2);
  }
  const rest = source.slice(staticStart);
  scanner?.read(rest);
  statics.push(rest);
  found.sort((a, b) => a.position - b.position);
  return { format, source, statics, variables, problems: withPlaces(source, found.slice(0, MAX_PROBLEMS)) };
}

function indexFrom(source: string, what: string, from: number): number {
  const found = source.indexOf(what, from);
  return found === -1 ? Infinity : found;
}

/** The name and default of a placeholder, or the problem. */
function parsePlaceholder(inside: string): { name: string; fallback: string | undefined } | string {
  const match = PLACEHOLDER.exec(inside.replaceAll('\u00a0', ' '));
  if (!match) return badPlaceholder(inside);
  const name = match[1]!;
  if (match[2] === undefined) return { name, fallback: undefined };
  const written = match[2].trim().replace(/^default\s*:\s*/, '');
  const quoted = QUOTED.exec(written);
  if (quoted) return { name, fallback: quoted[2]! };
  if (/^["']/.test(written)) return `The default of "${name}" has no closing quote.`;
  if (written.includes('|')) return `"${name}" has more than one "|": a placeholder takes one default and no filters.`;
  return { name, fallback: written.replace(/\s+/g, ' ') };
}

function badPlaceholder(inside: string): string {
  const shown = inside.trim().replace(/\s+/g, ' ').slice(0, 40);
  if (shown === '') return 'This placeholder is empty.';
  if (shown.startsWith('{')) return 'A placeholder needs two braces on each side, not three.';
  if (/^[#/^>!&]/.test(shown)) return `"${shown}" is a command; templates only support placeholders.`;
  return `"${shown}" is not a placeholder: names are letters, digits, "_", "." and "-", without spaces.`;
}

/** Adds lines and columns to problems sorted by position, in one pass over the source. */
function withPlaces(source: string, found: readonly Omit<TemplateProblem, 'line' | 'column'>[]): TemplateProblem[] {
  let line = 1;
  let lineStart = 0;
  return found.map((problem) => {
    for (let next = source.indexOf('\n', lineStart); next !== -1 && next < problem.position; line++) {
      lineStart = next + 1;
      next = source.indexOf('\n', lineStart);
    }
    return { ...problem, line, column: problem.position - lineStart + 1 };
  });
}
