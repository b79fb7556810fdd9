import type { Template, Variable } from './template.ts';

/** The number of a variable between Unicode noncharacters, which valid documents do not contain. */
const MARK = /\ufdd0(\d+)\ufdd1/g;

export const markOf = (number: number) => `\ufdd0${number}\ufdd1`;

/** A template as one text in which a mark with its number stands for each variable. */
export function markVariables({ statics }: Template): string {
  return statics
    .map((piece) => piece.replace(/[\ufdd0\ufdd1]/g, ''))
    .reduce((before, piece, i) => `${before}${markOf(i - 1)}${piece}`);
}

/** Splits a marked text into the pieces of a template; the variables are looked up by the numbers in the marks. */
export function splitAtMarks(
  marked: string,
  variables: readonly Variable[],
): { statics: string[]; variables: Variable[] } {
  const statics: string[] = [];
  const used: Variable[] = [];
  let at = 0;
  for (const match of marked.matchAll(MARK)) {
    const variable = variables[Number(match[1])];
    if (variable === undefined) continue;
    statics.push(marked.slice(at, match.index));
    used.push(variable);
    at = match.index + match[0].length;
  }
  statics.push(marked.slice(at));
  return { statics, variables: used };
}

/** The source of a template, from its pieces. */
export function sourceOf({ statics, variables }: Pick<Template, 'statics' | 'variables'>): string {
  return statics.map((piece, i) => piece + placeholderOf(variables[i])).join('');
}

function placeholderOf(variable: Variable | undefined): string {
  if (variable === undefined) return '';
  return variable.fallback === undefined
    ? `{{${variable.name}}}`
    : `{{${variable.name} | default: ${JSON.stringify(variable.fallback)}}}`;
}
