import type { Condition, LoopHead, Pipeline } from './expression.ts';

/** The output format, which decides how values are escaped. A subject is one line. */
export type TemplateFormat = 'subject' | 'text' | 'html';

/**
 * The escaping context of a variable. `url` is the start of a link, `url-address` the rest of a mailto or tel link,
 * `url-path` and `url-query` the rest of any other link, and `url-lines` the body of a mailto link. `url-encoded` is a value in a link that
 * the template has already encoded, and `css-url` the start of a URL in a style. At `nowhere` no value is
 * safe: nothing is shown, and the template has a problem. `ready` is only for system values that are already escaped, and
 * `plain-url` for the start of a link in a text that is generated from HTML.
 */
export type Context =
  | 'subject'
  | 'text'
  | 'html'
  | 'css'
  | 'css-url'
  | 'url'
  | 'url-address'
  | 'url-path'
  | 'url-query'
  | 'url-lines'
  | 'url-encoded'
  | 'plain-url'
  | 'ready'
  | 'nowhere';

/** A placeholder. */
export interface Variable {
  readonly kind: 'variable';
  /** The path it shows, such as `name` or `order.items.0.price`. */
  readonly name: string;
  /** Plain text to use when the value is missing or empty; `undefined` if the author gave none. */
  readonly fallback: string | undefined;
  readonly context: Context;
  /** Offset of its `{{` in the source. */
  readonly position: number;
  /** Its value with filters; undefined for a name with at most a fallback, which is the fast path. */
  readonly pipeline?: Pipeline;
  /** What is between the braces, if it has a pipeline. */
  readonly written?: string;
  /** Whether it is inside a condition or loop, or shows a name that a tag sets, so that it may be empty. */
  readonly isOptional?: boolean;
}

/**
 * A tag as a jump in the list of slots. `next` is the slot to continue with when a condition does not hold or a loop has no
 * items; `end` is the last slot of the block.
 */
type Tag = { readonly position: number; readonly written: string } & (
  | { readonly kind: 'if'; readonly condition: Condition; readonly next: number }
  /** Without a condition it is an `else`. */
  | { readonly kind: 'elsif'; readonly condition: Condition | undefined; readonly next: number; readonly end: number }
  | { readonly kind: 'for'; readonly head: LoopHead; readonly next: number }
  /** The end of a loop's body: an `endfor`, or an `else` with what is shown for an empty list. */
  | { readonly kind: 'next'; readonly start: number; readonly end: number }
  | { readonly kind: 'end' }
  | { readonly kind: 'assign'; readonly name: string; readonly pipeline: Pipeline }
);

/** What stands between two static pieces. */
export type Slot = Variable | Tag;

export interface TemplateProblem {
  readonly message: string;
  readonly position: number;
  /** Counted from 1. */
  readonly line: number;
  readonly column: number;
}

/** A parsed template: `statics[0] slots[0] statics[1] … statics[n]`. */
export interface Template {
  readonly format: TemplateFormat;
  readonly source: string;
  readonly statics: readonly string[];
  readonly slots: readonly Slot[];
  /** Empty in a valid template. */
  readonly problems: readonly TemplateProblem[];
}

/** Finished text as a template without placeholders; braces are literal. */
export function literalTemplate(format: TemplateFormat, text: string): Template {
  return { format, source: text, statics: [text], slots: [], problems: [] };
}

/** Maximum number of placeholders and tags: each adds work for every recipient. */
export const MAX_SLOTS = 10_000;
/** Maximum nesting of conditions and loops. */
export const MAX_BLOCK_DEPTH = 20;

/** Sets the jumps of tags. @throws Error if blocks are not nested, which `parseTemplate` rules out. */
export function linkSlots(slots: readonly Slot[]): Slot[] {
  const linked = [...slots];
  const open: number[][] = [];
  slots.forEach((slot, index) => {
    if (slot.kind === 'if' || slot.kind === 'for') open.push([index]);
    if (slot.kind !== 'elsif' && slot.kind !== 'next' && slot.kind !== 'end') return;
    const branches = open.at(-1);
    const last = linked[branches?.at(-1) ?? -1];
    if (branches === undefined || last === undefined || (last.kind === 'for') !== (slot.kind === 'next'))
      throw new Error('The tags of the template are not nested.');
    if ('next' in last) linked[branches.at(-1)!] = { ...last, next: index };
    // A loop without an `else` ends where its body does.
    const isEnd = slot.kind === 'end' || (slot.kind === 'next' && !slot.written.startsWith('else'));
    branches.push(index);
    if (slot.kind === 'next') linked[index] = { ...slot, start: branches[0]!, end: index };
    if (!isEnd) return;
    for (const branch of branches) {
      const each = linked[branch]!;
      if ('end' in each) linked[branch] = { ...each, end: index };
    }
    open.pop();
  });
  if (open.length > 0) throw new Error('A block of the template is not closed.');
  return linked;
}
