import { decodeEntities } from './entities.ts';
import {
  type Condition,
  type Expression,
  ExpressionReader,
  type Pipeline,
  startsWithFilter,
  SyntaxProblem,
} from './expression.ts';
import { HtmlScanner, type ScannerState } from './html-scanner.ts';
import {
  type Context,
  linkSlots,
  MAX_BLOCK_DEPTH,
  MAX_SLOTS,
  type Slot,
  type Template,
  type TemplateFormat,
  type TemplateProblem,
  type Variable,
} from './template.ts';

/** Maximum number of problems reported; one is enough to prevent sending. */
const MAX_PROBLEMS = 100;

const PLACEHOLDER = /^\s*([A-Za-z_][\w.-]*)\s*(?:\|(.*))?$/s;
const QUOTED = /^(["'])(.*)\1$/s;
const NEVER: Condition = { kind: 'truthy', of: { kind: 'literal', value: false } };
const END_RAW = /\{%-?\s*endraw\s*(-?)%\}/g;
const END_COMMENT = /\{%-?\s*endcomment\s*(-?)%\}/g;

/** The tag that closes each block. */
const CLOSING = { if: 'endif', unless: 'endunless', case: 'endcase', for: 'endfor' } as const;
const TAGS = 'if, unless, case, for, assign, comment and raw';

type BlockName = keyof typeof CLOSING;

/** A block that is not closed yet. */
interface Block {
  readonly name: BlockName;
  readonly position: number;
  readonly start: ScannerState | undefined;
  /** How its branches so far ended. */
  readonly ends: ScannerState[];
  /** The value that a `case` compares. */
  readonly subject: Expression | undefined;
  hasElse: boolean;
}

type Found = Omit<TemplateProblem, 'line' | 'column'>;
type Parsed = { statics: string[]; slots: Slot[]; problems: TemplateProblem[] };

/**
 * Parses a template: placeholders such as `{{name}}`, `{{name|there}}` and `{{ total | currency: "EUR" }}`, and tags such as
 * `{% if plan == "pro" %}`. Invalid placeholders and tags are left unchanged and reported.
 */
export function parseTemplate(source: string, format: TemplateFormat): Template {
  const { statics, slots, problems } = new TemplateParser(source, format).parse();
  return { format, source, statics, slots: linkSlots(slots), problems };
}

/** Reads a template into static pieces and unlinked slots, each character a fixed number of times. */
class TemplateParser {
  readonly #source: string;
  readonly #format: TemplateFormat;
  readonly #scanner: HtmlScanner | undefined;
  readonly #statics: string[] = [];
  readonly #slots: Slot[] = [];
  readonly #found: Found[] = [];
  readonly #blocks: Block[] = [];
  /** Names that tags set: placeholders with them may be empty. */
  readonly #locals = new Set(['forloop']);
  /** Those of them whose values are percent-encoded already. */
  readonly #encoded = new Set<string>();
  /** Static text before `#from` that no slot has ended yet. */
  #pending = '';
  /** Where the static text starts that has not been taken yet. */
  #from = 0;
  #trimsNext = false;
  /** Where each delimiter was found next; searched only once, as many may open before the next one closes. */
  readonly #next: Record<string, number> = {};

  constructor(source: string, format: TemplateFormat) {
    this.#source = source;
    this.#format = format;
    this.#scanner =
      format === 'html' ? new HtmlScanner((position, message) => this.#report(position, message)) : undefined;
  }

  parse(): Parsed {
    let at = this.#nextOpening(0);
    while (at !== Infinity && this.#found.length < MAX_PROBLEMS) {
      if (this.#slots.length >= MAX_SLOTS) {
        this.#report(at, `A template has at most ${MAX_SLOTS} placeholders and tags.`);
        break;
      }
      at = this.#nextOpening(this.#source[at + 1] === '{' ? this.#readPlaceholder(at) : this.#readTag(at));
    }
    const { length } = this.#source;
    for (const { name, position } of this.#blocks.toReversed()) {
      this.#report(position, `"${name}" is not closed by "{% ${CLOSING[name]} %}".`);
      // Closed here, so that a preview of the rest is possible.
      this.#closeBlock(length, CLOSING[name]);
    }
    this.#takeText(length, false);
    this.#scanner?.read(this.#pending);
    this.#statics.push(this.#pending);
    this.#found.sort((a, b) => a.position - b.position);
    const problems = withLineNumbers(this.#source, this.#found.slice(0, MAX_PROBLEMS));
    return { statics: this.#statics, slots: this.#slots, problems };
  }

  #report(position: number, message: string): void {
    this.#found.push({ message, position });
  }

  /** The offset of the next placeholder or tag; Infinity if there is none. */
  #nextOpening(from: number): number {
    return Math.min(this.#find('{{', from), this.#find('{%', from));
  }

  /** The offset of a delimiter at or after `from`; Infinity if there is none. */
  #find(what: string, from: number): number {
    const known = this.#next[what];
    if (known !== undefined && known >= from) return known;
    const found = this.#source.indexOf(what, from);
    return (this.#next[what] = found === -1 ? Infinity : found);
  }

  /** Reads a placeholder and returns where to continue. */
  #readPlaceholder(at: number): number {
    const end = this.#find('}}', at + 2);
    const nested = this.#source.indexOf('{{', at + 2);
    if (end === Infinity || (nested !== -1 && nested < end && this.#source[at + 2] !== '{')) {
      this.#report(at, 'This placeholder is not closed by "}}".');
      return at + 2;
    }
    const { inside, trimsLeft, trimsRight } = this.#readInside(at + 2, end);
    const parsed = parsePlaceholder(inside);
    if (typeof parsed === 'string') {
      this.#report(at, parsed);
      return end + 2;
    }
    this.#startSlot(at, end + 2, trimsLeft, trimsRight);
    const context = this.#scanner ? this.#scanner.contextAt(at) : (this.#format as 'subject' | 'text');
    this.#slots.push({
      kind: 'variable',
      ...(context.startsWith('url-') ? this.#inLink(parsed, context, at) : { ...parsed, context }),
      position: at,
      ...(this.#blocks.length > 0 || this.#locals.has(parsed.name.split('.', 1)[0]!) ? { isOptional: true } : {}),
    });
    return end + 2;
  }

  /** A value in a link. It is encoded once for its place there, whether the template encodes it as well or not. */
  #inLink(parsed: ParsedPlaceholder, context: Context, at: number): ParsedPlaceholder & { context: Context } {
    const { pipeline, name } = parsed;
    const isShownAsAssigned = pipeline === undefined || pipeline.filters.length === 0;
    if (isShownAsAssigned && this.#encoded.has(name)) return { ...parsed, context: 'url-encoded' };
    const before = this.#source.slice(Math.max(0, at - MAX_MAIL_LINK), at);
    const keepsLines = context === 'url-query' && endsInMailBody(before);
    return withoutDoubleEncoding(parsed, keepsLines ? 'url-lines' : context);
  }

  /** Reads a tag and returns where to continue. */
  #readTag(at: number): number {
    const end = this.#find('%}', at + 2);
    const nested = this.#source.indexOf('{%', at + 2);
    if (end === Infinity || (nested !== -1 && nested < end)) {
      this.#report(at, 'This tag is not closed by "%}".');
      return at + 2;
    }
    const { inside, trimsLeft, trimsRight } = this.#readInside(at + 2, end);
    const [, name = '', rest = ''] = /^\s*([A-Za-z_]*)(.*)$/s.exec(inside)!;
    const written = inside.trim();
    if (name === 'raw' || name === 'comment') return this.#readVerbatim(name, at, end + 2, trimsLeft, trimsRight);
    try {
      this.#readStatement(name, rest, { position: at, written }, () =>
        this.#startSlot(at, end + 2, trimsLeft, trimsRight),
      );
    } catch (error) {
      if (!(error instanceof SyntaxProblem)) throw error;
      this.#report(at, `"${name}" ${error.message}.`);
    }
    return end + 2;
  }

  /** Reads a tag other than `raw` and `comment`. @param start ends the text before it, once the tag is known to be valid. */
  #readStatement(name: string, rest: string, base: { position: number; written: string }, start: () => void): void {
    const block = this.#blocks.at(-1);
    switch (name) {
      case 'if':
      case 'unless': {
        const condition = this.#readOrReport(name, base.position, () => conditionOf(rest)) ?? NEVER;
        start();
        this.#openBlock(name, base.position);
        this.#slots.push({
          ...base,
          kind: 'if',
          condition: name === 'if' ? condition : { kind: 'not', of: condition },
          next: 0,
        });
        return;
      }
      case 'case': {
        const subject = this.#readOrReport(name, base.position, () => singleValue(rest));
        start();
        this.#openBlock(name, base.position, subject ?? { kind: 'literal', value: null });
        // What is between it and the first "when" is never shown.
        this.#slots.push({ ...base, kind: 'if', condition: NEVER, next: 0 });
        return;
      }
      case 'for': {
        const none: Expression = { kind: 'literal', value: null };
        const head = this.#readOrReport(name, base.position, () => new ExpressionReader(rest).loopHead());
        start();
        this.#openBlock(name, base.position);
        if (head !== undefined) {
          this.#locals.add(head.item);
          this.#encoded.delete(head.item);
        }
        const empty = { item: 'item', of: none, limit: undefined, offset: undefined, reversed: false };
        this.#slots.push({ ...base, kind: 'for', head: head ?? empty, next: 0 });
        return;
      }
      case 'elsif':
      case 'when':
      case 'else': {
        const fits = name === 'elsif' ? ['if', 'unless'] : name === 'when' ? ['case'] : Object.keys(CLOSING);
        if (block === undefined || !fits.includes(block.name) || block.hasElse)
          throw new SyntaxProblem(`does not fit here; it belongs to ${fits.map((each) => `"${each}"`).join(' or ')}`);
        const condition =
          name === 'else'
            ? undefined
            : (this.#readOrReport(name, base.position, () =>
                name === 'elsif' ? conditionOf(rest) : anyOf(block.subject!, new ExpressionReader(rest).values()),
              ) ?? NEVER);
        if (name === 'else') new ExpressionReader(rest).end();
        start();
        this.#endBranch(block, base.position);
        block.hasElse ||= name === 'else';
        if (block.name === 'for') this.#slots.push({ ...base, kind: 'next', start: 0, end: 0 });
        else this.#slots.push({ ...base, kind: 'elsif', condition, next: 0, end: 0 });
        return;
      }
      case 'assign': {
        const reader = new ExpressionReader(rest);
        const target = reader.target();
        const pipeline = reader.pipeline();
        start();
        this.#scanner?.stateAt(base.position);
        this.#locals.add(target);
        if (pipeline.filters.at(-1)?.name === 'url_encode') this.#encoded.add(target);
        else this.#encoded.delete(target);
        this.#slots.push({ ...base, kind: 'assign', name: target, pipeline });
        return;
      }
      default:
        if (!(Object.values(CLOSING) as string[]).includes(name))
          throw new SyntaxProblem(`is not a tag; the tags are ${TAGS}`);
        if (block === undefined || CLOSING[block.name] !== name)
          throw new SyntaxProblem(block === undefined ? 'closes nothing' : `cannot close "${block.name}"`);
        new ExpressionReader(rest).end();
        start();
        this.#closeBlock(base.position, base.written);
    }
  }

  /** What `read` returns. A syntax error is reported, and the result is undefined. */
  #readOrReport<Result>(name: string, position: number, read: () => Result): Result | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof SyntaxProblem)) throw error;
      this.#report(position, `"${name}" ${error.message}.`);
      return undefined;
    }
  }

  #openBlock(name: BlockName, position: number, subject?: Expression): void {
    if (this.#blocks.length === MAX_BLOCK_DEPTH)
      this.#report(position, `Conditions and loops can be nested at most ${MAX_BLOCK_DEPTH} deep.`);
    const start = this.#scanner?.stateAt(position);
    this.#blocks.push({ name, position, start, ends: [], subject, hasElse: false });
  }

  #endBranch(block: Block, position: number): void {
    if (this.#scanner === undefined || block.start === undefined) return;
    block.ends.push(this.#scanner.stateAt(position));
    this.#scanner.restore(block.start);
  }

  #closeBlock(position: number, written: string): void {
    const block = this.#blocks.at(-1)!;
    if (position === this.#source.length) this.#startSlot(position, position, false, false);
    this.#endBranch(block, position);
    this.#blocks.pop();
    const isLoop = block.name === 'for';
    if (block.start !== undefined && (isLoop || !block.hasElse)) block.ends.push(block.start);
    if (block.ends.length > 0) this.#scanner?.join(block.position, block.ends, isLoop);
    const tag = { position, written };
    this.#slots.push(isLoop && !block.hasElse ? { ...tag, kind: 'next', start: 0, end: 0 } : { ...tag, kind: 'end' });
  }

  /** Reads a comment, which is skipped, or raw text, which is taken as it is, and returns where to continue. */
  #readVerbatim(name: 'raw' | 'comment', at: number, from: number, trimsLeft: boolean, trimsRight: boolean): number {
    const closing = name === 'raw' ? END_RAW : END_COMMENT;
    closing.lastIndex = from;
    const match = closing.exec(this.#source);
    if (match === null) {
      this.#report(at, `"${name}" is not closed by "{% end${name} %}".`);
      return this.#source.length;
    }
    this.#takeText(at, trimsLeft);
    if (name === 'raw') {
      const content = this.#source.slice(from, match.index);
      this.#pending += trimsRight ? content.trimStart() : content;
    }
    this.#from = closing.lastIndex;
    this.#trimsNext = match[1] === '-';
    return this.#from;
  }

  /** What is between delimiters, and whether a dash removes the space before and after them. */
  #readInside(from: number, end: number) {
    const written = this.#source.slice(from, end);
    const trimsLeft = written.startsWith('-');
    const trimsRight = written.endsWith('-') && written.length > 1;
    const bare = written.slice(trimsLeft ? 1 : 0, trimsRight ? -1 : undefined);
    const inside = this.#format === 'html' ? decodeEntities(bare) : bare;
    return { inside: inside.replaceAll('\u00a0', ' '), trimsLeft, trimsRight };
  }

  /** Ends the static piece before a slot. */
  #startSlot(at: number, end: number, trimsLeft: boolean, trimsRight: boolean): void {
    this.#takeText(at, trimsLeft);
    this.#scanner?.read(this.#pending);
    this.#statics.push(this.#pending);
    this.#pending = '';
    this.#from = end;
    this.#trimsNext = trimsRight;
  }

  #takeText(to: number, trimsEnd: boolean): void {
    let text = this.#source.slice(this.#from, to);
    if (this.#trimsNext) text = text.trimStart();
    if (trimsEnd) text = text.trimEnd();
    this.#pending += text;
    this.#from = to;
    this.#trimsNext = false;
  }
}

function conditionOf(text: string): Condition {
  const reader = new ExpressionReader(text);
  const condition = reader.condition();
  reader.end();
  return condition;
}

/** The value of a `case` tag, which takes exactly one. */
function singleValue(text: string): Expression {
  const reader = new ExpressionReader(text);
  const value = reader.value();
  reader.end();
  return value;
}

/** Whether the subject of a `case` equals one of the values of a `when`. */
function anyOf(subject: Expression, values: readonly Expression[]): Condition {
  return values
    .map((right): Condition => ({ kind: '==', left: subject, right }))
    .reduceRight((right, left) => ({ kind: 'or', left, right }));
}

type ParsedPlaceholder = Pick<Variable, 'name' | 'fallback' | 'pipeline' | 'written'>;

/**
 * The content of a placeholder, or the problem. After the first bar comes a filter if its name is known, and else the
 * default in the form `{{name|there}}`.
 */
function parsePlaceholder(inside: string): ParsedPlaceholder | string {
  const match = PLACEHOLDER.exec(inside);
  const rest = match?.[2];
  if (match === null) return parsePipeline(inside);
  const name = match[1]!;
  if (rest === undefined) return withFallback(name, undefined);
  const simple = /^\s*default\s*:(.*)$/s.exec(rest)?.[1]?.trim();
  if (simple !== undefined && (QUOTED_ONLY.test(simple) || isWords(simple))) return withFallback(name, unquote(simple));
  if (startsWithFilter(rest)) return parsePipeline(inside);
  const written = rest.trim();
  if (/^["']/.test(written) && !QUOTED.test(written)) return `The default of "${name}" has no closing quote.`;
  if (!QUOTED.test(written) && written.includes('|'))
    return `"${written.split('|', 1)[0]!.trim().slice(0, 40)}" is not a filter.`;
  return withFallback(name, unquote(written));
}

const QUOTED_ONLY = /^(?:"[^"]*"|'[^']*')$/;
/** Several words, or none: an unquoted default that is no value of Liquid. */
const isWords = (text: string) => text === '' || (/\s/.test(text) && !/["'|,:]/.test(text));

const unquote = (written: string) => QUOTED.exec(written)?.[2] ?? written.replace(/\s+/g, ' ');

function withFallback(name: string, fallback: string | undefined): ParsedPlaceholder {
  if (!/[.-]/.test(name)) return { name, fallback };
  const value: Expression = { kind: 'path', name, keys: name.split('.') };
  const filters = fallback === undefined ? [] : [{ name: 'default', args: [literal(fallback)] }];
  const written = fallback === undefined ? name : `${name} | default: ${JSON.stringify(fallback)}`;
  return { name, fallback, pipeline: { value, filters }, written };
}

const literal = (value: string): Expression => ({ kind: 'literal', value });

function parsePipeline(inside: string): ParsedPlaceholder | string {
  if (!/^\s*(?:["'(]|-?\d+(?!\w)|[A-Za-z_][\w.-]*\s*(?:[[|]|$))/.test(inside)) return badPlaceholder(inside);
  let pipeline: Pipeline;
  try {
    pipeline = new ExpressionReader(inside).pipeline();
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    return `This placeholder ${error.message}.`;
  }
  const { value, filters } = pipeline;
  const other = filters.find((filter) => filter.name === 'default')?.args[0];
  const fallback =
    other === undefined
      ? undefined
      : other.kind === 'literal'
        ? String(other.value ?? '')
        : pathOf(other, 'another value');
  return { name: pathOf(value, 'text'), fallback, pipeline, written: inside.trim() };
}

/** How far before a placeholder the start of its mailto link is looked for, in characters. */
const MAX_MAIL_LINK = 1_000;

/** Whether a source ends in the body of a mailto link, the only part that may have line breaks (RFC 6068, 5). */
function endsInMailBody(source: string): boolean {
  const body = source.lastIndexOf('body=');
  if (body < 1 || !'?&;'.includes(source[body - 1]!) || /[&"'<>]/.test(source.slice(body))) return false;
  const quote = Math.max(source.lastIndexOf('"', body), source.lastIndexOf("'", body));
  return source.lastIndexOf('mailto:', body) > quote;
}

/** Drops a final `url_encode` from a value in a link, which is percent-encoded for its place there anyway. */
function withoutDoubleEncoding(parsed: ParsedPlaceholder, context: Context): ParsedPlaceholder & { context: Context } {
  const { value, filters } = parsed.pipeline ?? { filters: [] };
  if (value === undefined || filters.at(-1)?.name !== 'url_encode') return { ...parsed, context };
  // The filter encodes slashes, too.
  const encoded = context === 'url-path' ? 'url-query' : context;
  return { ...parsed, pipeline: { value, filters: filters.slice(0, -1) }, context: encoded };
}

const pathOf = (value: Expression, otherwise: string) => (value.kind === 'path' ? value.name : otherwise);

function badPlaceholder(inside: string): string {
  const shown = inside.trim().replace(/\s+/g, ' ').slice(0, 40);
  if (shown === '') return 'This placeholder is empty.';
  if (shown.startsWith('{')) return 'A placeholder needs two braces on each side, not three.';
  if (/^[#/^>!&]/.test(shown)) return `"${shown}" is a command of another language; write tags as {% if … %}.`;
  return `"${shown}" is not a placeholder: names are letters, digits, "_", "." and "-", without spaces.`;
}

/** Adds lines and columns to problems sorted by position, in one pass over the source. */
function withLineNumbers(source: string, found: readonly Found[]): TemplateProblem[] {
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
