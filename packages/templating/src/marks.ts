import { linkSlots, type Slot, type Template } from './template.ts';

/** The number of a slot between Unicode noncharacters, which valid documents do not contain. */
export const MARK = /\ufdd0(\d+)\ufdd1/g;

export const markOf = (number: number) => `\ufdd0${number}\ufdd1`;

/** A template as one text in which a mark with its number stands for each placeholder and tag. */
export function markSlots({ statics }: Template): string {
  return statics
    .map((piece) => piece.replace(/[\ufdd0\ufdd1]/g, ''))
    .reduce((before, piece, i) => `${before}${markOf(i - 1)}${piece}`);
}

/**
 * Splits a marked text into the pieces of a template; the slots are looked up by the numbers in the marks.
 * @throws Error if the marks of tags are no longer nested.
 */
export function splitAtMarks(marked: string, slots: readonly Slot[]): { statics: string[]; slots: Slot[] } {
  const statics: string[] = [];
  const used: Slot[] = [];
  let at = 0;
  for (const match of marked.matchAll(MARK)) {
    const slot = slots[Number(match[1])];
    if (slot === undefined) continue;
    statics.push(marked.slice(at, match.index));
    used.push(slot);
    at = match.index + match[0].length;
  }
  statics.push(marked.slice(at));
  return { statics, slots: linkSlots(used) };
}

/** The source of a template, from its pieces. */
export function sourceOf({ statics, slots }: Pick<Template, 'statics' | 'slots'>): string {
  return statics.map((piece, i) => literalOf(piece) + writtenOf(slots[i])).join('');
}

/** Text with braces was raw; without the tag it would have the source of a placeholder. */
const literalOf = (piece: string) => (/\{[{%]/.test(piece) ? `{% raw %}${piece}{% endraw %}` : piece);

function writtenOf(slot: Slot | undefined): string {
  if (slot === undefined) return '';
  if (slot.kind !== 'variable') return `{% ${slot.written} %}`;
  if (slot.written !== undefined) return `{{${slot.written}}}`;
  return slot.fallback === undefined
    ? `{{${slot.name}}}`
    : `{{${slot.name} | default: ${JSON.stringify(slot.fallback)}}}`;
}

/**
 * The source of what a template shows for all values: without its conditions and loops. Also without comments, as they are
 * never shown.
 */
export function unconditionalSource({ statics, slots }: Template): string {
  let depth = 0;
  return statics
    .map((piece, i) => {
      const before = slots[i - 1];
      if (before?.kind === 'if' || before?.kind === 'for') depth++;
      if (before?.kind === 'end' || (before?.kind === 'next' && before.end === i - 1)) depth--;
      const slot = slots[i];
      return depth === 0 ? piece + (slot?.kind === 'variable' ? writtenOf(slot) : '') : '';
    })
    .join('');
}
