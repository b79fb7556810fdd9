// For the packages that import this one: their programs do not include the declaration.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="./mjml-package.d.ts" />
import type { ContentProblem } from './problems.ts';

/** Maximum number of problems reported. */
const MAX_PROBLEMS = 100;

/** Compiles MJML. Any problem rejects it, because the compiler would drop or guess content. */
export async function compileMjml(source: string): Promise<{ html: string; problems: ContentProblem[] }> {
  const problems = structuralProblems(source);
  if (problems.length > 0) return { html: '', problems };
  if (!/<mjml\b/i.test(source)) return { html: '', problems: [NO_ROOT] };
  // Loaded lazily, because it is large and only needed for MJML.
  const { default: mjml2html } = await import('mjml');
  try {
    // Nothing that is invalid is compiled. The empty font table prevents loading web fonts that the author did not ask for.
    const options = { validationLevel: 'strict', ignoreIncludes: true, fonts: {}, keepComments: false } as const;
    return { html: (await mjml2html(source, options)).html, problems: [] };
  } catch (error) {
    const { errors = [], message } = error as MjmlError;
    if (errors.length === 0) return { html: '', problems: [{ message }] };
    return {
      html: '',
      problems: errors
        .slice(0, MAX_PROBLEMS)
        .map((at) => ({ line: at.line, message: `${at.tagName}: ${at.message.trim()}` })),
    };
  }
}

/** What the compiler throws: for invalid MJML, with the errors. */
interface MjmlError extends Error {
  errors?: { line: number; message: string; tagName: string }[];
}

/** Problems found before compiling. */
export const structuralProblems = (source: string): ContentProblem[] => [
  ...includes(source),
  ...unbalanced(source),
  ...carouselImages(source),
];

const NO_ROOT: ContentProblem = { message: 'Malformed MJML: it must be enclosed in <mjml> and </mjml>' };

/**
 * Maximum carousel images of a body. Styles grow with the square of their number: those of 200 are already longer than a body may be, and those of
 * 8,000 exhausted the memory of the process.
 */
const MAX_CAROUSEL_IMAGES = 200;

function carouselImages(source: string): ContentProblem[] {
  const next = [...source.matchAll(/<mj-carousel-image\b/gi)][MAX_CAROUSEL_IMAGES];
  if (next === undefined) return [];
  const message = `mj-carousel-image: there may be at most ${MAX_CAROUSEL_IMAGES}`;
  return [{ line: lineOf(source, next.index), message }];
}

/** An include would read files of the server. The compiler ignores includes, so report them. */
function includes(source: string): ContentProblem[] {
  const at = source.search(/<mj-include\b/i);
  return at === -1 ? [] : [{ line: lineOf(source, at), message: 'mj-include: files cannot be included' }];
}

/** A comment or an MJML tag including its end; quoted values may contain ">". */
const PART = /<!--[\s\S]*?-->|<(\/?)(mjml|mj-[\w-]+)\b(?:"[^"]*"|'[^']*'|[^"'>])*>/iy;
const BEGINNING = /<!--|<\/?(?:mjml|mj-[\w-]+)\b/gi;

/** MJML tags that are unclosed or mismatched; the compiler would guess where they close. */
function unbalanced(source: string): ContentProblem[] {
  const open: { name: string; at: number }[] = [];
  const problemAt = (at: number, message: string): ContentProblem => ({ line: lineOf(source, at), message });
  BEGINNING.lastIndex = 0;
  for (let found = BEGINNING.exec(source); found !== null; found = BEGINNING.exec(source)) {
    const at = found.index;
    PART.lastIndex = at;
    const [whole, slash, name] = PART.exec(source) ?? [];
    // Stop here: after an unterminated tag or comment, nothing is read as the author intended.
    if (whole === undefined)
      return [problemAt(at, `${found[0] === '<!--' ? 'a comment' : found[0].replace(/^<\/?/, '')}: is not terminated`)];
    BEGINNING.lastIndex = at + whole.length;
    if (name === undefined || whole.endsWith('/>')) continue;
    if (slash === '') {
      open.push({ name, at });
      continue;
    }
    const last = open.pop();
    if (last === undefined) return [problemAt(at, `${name}: is closed here, but was not opened`)];
    if (last.name.toLowerCase() !== name.toLowerCase())
      return [problemAt(last.at, `${last.name}: is not closed; </${name}> comes in line ${lineOf(source, at)}`)];
  }
  return open.slice(-1).map(({ name, at }) => problemAt(at, `${name}: is not closed`));
}

/** The line of an offset, counted from 1. */
export const lineOf = (source: string, at: number) => source.slice(0, at).split('\n').length;
