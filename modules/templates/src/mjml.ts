import type { ContentProblem } from './problems.ts';

/** What is wrong is listed up to so many times. */
const MAX_FLAWS = 100;

/** Compiles MJML. Whatever is wrong with it is refused, since the compiler would leave out or guess. */
export async function compileMjml(source: string): Promise<{ html: string; flaws: ContentProblem[] }> {
  const flaws = structuralFlaws(source);
  if (flaws.length > 0) return { html: '', flaws };
  // It is large, and only those who write MJML need it.
  const { default: mjml2html } = await import('mjml');
  try {
    // Without its table of fonts nothing is fetched from elsewhere, unless the author names it.
    const options = { validationLevel: 'soft', ignoreIncludes: true, fonts: {}, keepComments: false } as const;
    const { html, errors } = await mjml2html(source, options);
    return {
      html,
      flaws: errors
        .slice(0, MAX_FLAWS)
        .map(({ line, tagName, message }) => ({ line, message: `${tagName}: ${message.trim()}` })),
    };
  } catch (error) {
    return { html: '', flaws: [{ message: error instanceof Error ? error.message : String(error) }] };
  }
}

/** What is wrong before it is compiled. */
export const structuralFlaws = (source: string): ContentProblem[] => [...includes(source), ...unbalanced(source)];

/** An include would read files of the server. The compiler is told to read none, and the author that there are none. */
function includes(source: string): ContentProblem[] {
  const at = source.search(/<mj-include\b/i);
  return at === -1 ? [] : [{ line: lineOf(source, at), message: 'mj-include: files can not be included' }];
}

/** A comment, or a tag of MJML up to its end; quoted values may hold a ">". */
const PART = /<!--[\s\S]*?-->|<(\/?)(mjml|mj-[\w-]+)\b(?:"[^"]*"|'[^']*'|[^"'>])*>/iy;
const BEGINNING = /<!--|<\/?(?:mjml|mj-[\w-]+)\b/gi;

/** Tags of MJML that are not closed, or closed by another: the compiler would close them where it thinks fit. */
function unbalanced(source: string): ContentProblem[] {
  const open: { name: string; at: number }[] = [];
  const flaw = (at: number, message: string): ContentProblem => ({ line: lineOf(source, at), message });
  BEGINNING.lastIndex = 0;
  for (let found = BEGINNING.exec(source); found !== null; found = BEGINNING.exec(source)) {
    const at = found.index;
    PART.lastIndex = at;
    const [whole, slash, name] = PART.exec(source) ?? [];
    // Looked for once only: if this has no end, nothing behind it has been read as its author meant it.
    if (whole === undefined)
      return [flaw(at, `${found[0] === '<!--' ? 'a comment' : found[0].replace(/^<\/?/, '')}: has no end`)];
    BEGINNING.lastIndex = at + whole.length;
    if (name === undefined || whole.endsWith('/>')) continue;
    if (slash === '') {
      open.push({ name, at });
      continue;
    }
    const last = open.pop();
    if (last === undefined) return [flaw(at, `${name}: is closed here, and was not opened`)];
    if (last.name.toLowerCase() !== name.toLowerCase())
      return [flaw(last.at, `${last.name}: is not closed; </${name}> comes in line ${lineOf(source, at)}`)];
  }
  return open.slice(-1).map(({ name, at }) => flaw(at, `${name}: is not closed`));
}

/** The line of a place, counted from 1. */
export const lineOf = (source: string, at: number) => source.slice(0, at).split('\n').length;
