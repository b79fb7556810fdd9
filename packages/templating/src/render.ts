import { ESCAPES } from './escape.ts';
import { namesIn } from './expression.ts';
import { sourceOf } from './marks.ts';
import { MAX_WORK, Scope } from './scope.ts';
import { linkSlots, type Slot, type Template, type Variable } from './template.ts';
import { cost, RenderError, toText } from './values.ts';

/** Computes a system value where its placeholder stands, which may be in a loop. */
export type Computed = (scope: Scope) => string;
/**
 * Contact fields, custom fields and system values (`unsubscribe_url` …), by name. A placeholder shows texts, numbers,
 * booleans and dates; objects and lists are read by paths, loops and filters.
 */
export type Values = Readonly<Record<string, unknown>>;

/** Maximum length of a rendered part in characters, unless a caller has its own limit. */
const MAX_RENDERED_LENGTH = 5_000_000;
/** Maximum length of a subject in characters, before and after its placeholders are filled in. Servers reject long headers. */
export const MAX_SUBJECT_LENGTH = 998;

/** Renders a template. @throws TooLongError when the result has more than `most` characters, RenderError beyond `maxWork`. */
export function renderTemplate(
  template: Template,
  values: Values,
  most = MAX_RENDERED_LENGTH,
  maxWork = MAX_WORK,
): string {
  return renderPieces(template.statics, template.slots, new Scope(values, maxWork), unencoded, most);
}

/**
 * Maximum work of a campaign's message: it is rendered where all mail is sent, for each recipient, and 50,000 steps are at most a few
 * hundredths of a second.
 */
export const MAX_MESSAGE_WORK = 50_000;

/** Renders part of a campaign's message. @throws as `renderTemplate`, beyond `MAX_MESSAGE_WORK`. */
export const renderForRecipient = (template: Template, values: Values): string =>
  renderTemplate(template, values, MAX_RENDERED_LENGTH, MAX_MESSAGE_WORK);

/** Renders a campaign's subject. @throws as `renderTemplate`, beyond `MAX_SUBJECT_LENGTH` and `MAX_MESSAGE_WORK`. */
export function renderSubject(template: Template, values: Values): string {
  try {
    return renderTemplate(template, values, MAX_SUBJECT_LENGTH, MAX_MESSAGE_WORK);
  } catch (error) {
    throw error instanceof TooLongError ? new RenderError(`the subject ${error.message}`) : error;
  }
}

const unencoded = (text: string) => text;

/**
 * Concatenates static pieces and the values between them.
 * @param encode encodes a value for the pieces around it.
 * @throws TooLongError when the result has more than `most` characters, RenderError beyond `MAX_WORK`.
 */
export function renderPieces(
  pieces: readonly string[],
  slots: readonly Slot[],
  scope: Scope,
  encode: (text: string) => string,
  most = MAX_RENDERED_LENGTH,
): string {
  let out = pieces[0]!;
  for (let i = 0; i < slots.length; i++) {
    const slot = slots[i]!;
    if (slot.kind === 'variable') out += encode(valueFor(slot, scope));
    else i = step(slots, i, scope);
    out += pieces[i + 1]!;
    if (out.length > most) throw new TooLongError(most);
  }
  return out;
}

/** Executes a tag and returns the slot after whose piece rendering continues. */
function step(slots: readonly Slot[], at: number, scope: Scope): number {
  const tag = slots[at]!;
  switch (tag.kind) {
    case 'if':
      return scope.holds(tag.condition) ? at : branch(slots, tag.next, scope);
    case 'elsif': // reached from the branch before it
      return tag.end;
    case 'for':
      return scope.enter(tag.head) ? at : tag.next;
    case 'next':
      if (!scope.advance()) return tag.end;
      scope.spend(at - tag.start);
      return tag.start;
    case 'assign':
      scope.assign(tag.name, tag.pipeline);
      return at;
    default:
      return at;
  }
}

/** The first branch, from a slot on, whose condition holds, or the end of the block. */
function branch(slots: readonly Slot[], from: number, scope: Scope): number {
  let at = from;
  for (let tag = slots[at]!; tag.kind === 'elsif'; tag = slots[at]!) {
    if (tag.condition === undefined || scope.holds(tag.condition)) break;
    scope.spend(1);
    at = tag.next;
  }
  return at;
}

/** The rendered template is too long: a short template with many placeholders and long values could exhaust memory. */
class TooLongError extends RenderError {
  override readonly name = 'TooLongError';

  constructor(most: number) {
    super(`has more than ${most} characters with its values filled in`);
  }
}

/** The escaped text of a placeholder: its value, else its default, else nothing. */
export function valueFor(variable: Variable, scope: Scope): string {
  const { context, pipeline } = variable;
  const value = pipeline === undefined ? ownValue(variable.name, scope) : scope.run(pipeline);
  // Also a value that shows nothing, such as spaces, is read.
  scope.spend(cost(value));
  if (pipeline !== undefined) return ESCAPES[context](textOf(value));
  if (context === 'ready' && typeof value === 'function') return (value as Computed)(scope);
  const text = textOf(value);
  return ESCAPES[context](text === '' ? (variable.fallback ?? '') : text);
}

function ownValue(name: string, scope: Scope): unknown {
  return scope.hasLocals ? scope.evaluate({ kind: 'path', name, keys: [name] }) : scope.values[name];
}

/** Fills in values that all recipients share, so that they are not rendered for each. Empty values leave their variable. */
export function bindValues(template: Template, values: Values): Template {
  const statics = [template.statics[0]!];
  const slots: Slot[] = [];
  const scope = new Scope(values);
  const set = new Set(
    template.slots.flatMap((slot) => (slot.kind === 'assign' ? slot.name : slot.kind === 'for' ? slot.head.item : [])),
  );
  template.slots.forEach((slot, i) => {
    const next = template.statics[i + 1]!;
    const isShared = slot.kind === 'variable' && slot.pipeline === undefined && !set.has(slot.name);
    if (!isShared || textOf(values[slot.name]) === '') {
      slots.push(slot);
      statics.push(next);
    } else {
      statics.push(statics.pop()! + valueFor(slot, scope) + next);
    }
  });
  if (slots.length === template.slots.length) return template;
  return { ...template, source: sourceOf({ statics, slots }), statics, slots: linkSlots(slots) };
}

/** The names that a template reads in placeholders and tags, without duplicates, in order of appearance. */
export function variablesOf(template: Template): string[] {
  return [...new Set(template.slots.flatMap((slot) => [...namesOf(slot)]))];
}

function namesOf(slot: Slot): Iterable<string> {
  if (slot.kind === 'variable') return slot.pipeline === undefined ? [slot.name] : namesIn(slot.pipeline);
  if (slot.kind === 'assign') return namesIn(slot.pipeline);
  if (slot.kind === 'for') return namesIn(slot.head);
  return 'condition' in slot && slot.condition !== undefined ? namesIn(slot.condition) : [];
}

/** Whether a template shows nothing, whatever the values. */
export const isAlwaysBlank = ({ statics, slots }: Pick<Template, 'statics' | 'slots'>): boolean =>
  statics.every(isBlank) && slots.every(({ kind }) => kind !== 'variable');

/** The names without a value or a default that these values would show, other than names that tags set. @throws RenderError */
export function missing(template: Template, values: Values): string[] {
  const scope = new Scope(values);
  const names = new Set<string>();
  const locals = new Set(
    template.slots.flatMap((slot) => (slot.kind === 'assign' ? slot.name : slot.kind === 'for' ? slot.head.item : [])),
  );
  const { slots } = template;
  for (let i = 0; i < slots.length; i++) {
    const slot = slots[i]!;
    if (slot.kind !== 'variable') i = step(slots, i, scope);
    else if (slot.fallback === undefined && !locals.has(slot.name.split('.', 1)[0]!) && isMissing(slot, scope))
      names.add(slot.name);
  }
  return [...names];
}

function isMissing({ name, pipeline }: Variable, scope: Scope): boolean {
  const value = pipeline === undefined ? ownValue(name, scope) : scope.evaluate(pipeline.value);
  return pipeline === undefined || pipeline.filters.length === 0
    ? textOf(value) === ''
    : value === undefined || value === null || value === '';
}

/** A value as plain text; '' if it is blank, so that the default applies. */
function textOf(value: unknown): string {
  if (typeof value !== 'string') return toText(value);
  return isBlank(value) ? '' : value;
}

function isBlank(value: string): boolean {
  // Fast path: nearly every value starts with a visible character, so it can't be blank.
  const first = value.charCodeAt(0);
  return !(first > 0x20 && first < 0x7f) && value.trim() === '';
}
