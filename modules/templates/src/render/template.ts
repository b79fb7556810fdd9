import { HtmlScanner } from './html-scanner.ts';
import { decodeEntities } from './entities.ts';

/** What a template becomes; it decides how a value is escaped. A subject is one line. */
export type TemplateFormat = 'subject' | 'text' | 'html';

/**
 * Where a variable stands. `url` is the start of a link, `url-address` the rest of a mailto or tel link, `url-path` and
 * `url-query` the rest of any other; at `nowhere` no value is safe, so that none is shown and the template has a problem.
 * `ready` is no author's: what stands there has been made for its place by the system.
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
  /** Shown when the value is missing or empty, as plain text. `undefined` when the author gave none. */
  readonly fallback: string | undefined;
  readonly context: Context;
  /** Offset of its `{{` in the source. */
  readonly position: number;
}

export interface TemplateProblem {
  readonly message: string;
  readonly position: number;
  /** Counted from 1, as editors do. */
  readonly line: number;
  readonly column: number;
}

/** A template parsed once: `statics[0] variables[0] statics[1] … statics[n]`. */
export interface Template {
  readonly format: TemplateFormat;
  readonly source: string;
  readonly statics: readonly string[];
  readonly variables: readonly Variable[];
  /** Empty in a template that may be sent. */
  readonly problems: readonly TemplateProblem[];
}

/** The placeholders of a template at most: each costs every recipient a splice. */
export const MAX_VARIABLES = 10_000;
/** Problems that are reported at most; a template with one is not sent. */
const MAX_PROBLEMS = 100;

const PLACEHOLDER = /^\s*([A-Za-z_][\w.-]*)\s*(?:\|(.*))?$/s;
const QUOTED = /^(["'])(.*)\1$/s;

/** Reads `{{name}}`, `{{name|there}}` and `{{ name | default: "there" }}`. What it can't read stays as it is and is a problem. */
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
    // It is looked for once: many braces may open before the next ones close.
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

/** The name and default of a placeholder, or what is wrong with it. */
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
  if (shown.startsWith('{')) return 'A placeholder has two braces on each side, not three.';
  if (/^[#/^>!&]/.test(shown)) return `"${shown}" is a command; templates have placeholders only.`;
  return `"${shown}" is not a placeholder: names are letters, digits, "_", "." and "-", without spaces.`;
}

/** Adds lines and columns to problems that are sorted by position, in one pass over the source. */
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
