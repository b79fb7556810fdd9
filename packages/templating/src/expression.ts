import { filterProblem, FILTERS, takesNoArguments } from './filters.ts';

/** A value as an author writes it: a literal, a path such as `order.items[0].price`, or a range. Plain data, as it is sent to other processes. */
export type Expression =
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null }
  /** `empty` and `blank`, which values are compared with. */
  | { readonly kind: 'state'; readonly name: 'empty' | 'blank' }
  | { readonly kind: 'path'; readonly name: string; readonly keys: readonly (string | number | Expression)[] }
  | { readonly kind: 'range'; readonly from: Expression; readonly to: Expression };

/** A value and the filters it passes through. */
export interface Pipeline {
  readonly value: Expression;
  readonly filters: readonly { readonly name: string; readonly args: readonly Expression[] }[];
}

type Comparison = '==' | '!=' | '<' | '>' | '<=' | '>=' | 'contains';

export type Condition =
  | { readonly kind: 'and' | 'or'; readonly left: Condition; readonly right: Condition }
  | { readonly kind: 'not'; readonly of: Condition }
  | { readonly kind: 'truthy'; readonly of: Expression }
  | { readonly kind: Comparison; readonly left: Expression; readonly right: Expression };

/** The head of a `for` tag. */
export interface LoopHead {
  readonly item: string;
  readonly of: Expression;
  readonly limit: Expression | undefined;
  readonly offset: Expression | undefined;
  readonly reversed: boolean;
}

/** Maximum number of filters, values and comparisons in one placeholder or tag: each adds work to every execution. */
const MAX_OPERATIONS = 50;

/** A syntax error, described for the author. */
export class SyntaxProblem extends Error {}

const TOKEN =
  /\s*(?:("[^"]*"|'[^']*')|(-?\d+(?:\.\d+)?)(?![\w])|([A-Za-z_][\w-]*)|(\.\.|==|!=|<>|<=|>=|[<>|:,.[\]()=]))/y;

/** Reads the inside of a placeholder or tag from left to right, each character once. */
export class ExpressionReader {
  readonly #source: string;
  #at = 0;
  #operations = 0;
  /** The next token, '' at the end. */
  #token = '';
  #type: 'string' | 'number' | 'word' | 'sign' | 'end' = 'end';

  constructor(source: string) {
    this.#source = source;
    this.#advance();
  }

  /** `value | filter: argument, … | …` up to the end. */
  pipeline(): Pipeline {
    const value = this.value();
    const filters: { name: string; args: Expression[] }[] = [];
    while (this.#accept('|')) filters.push(this.#filter());
    this.end();
    return { value, filters };
  }

  /** `and` and `or` group from the right, without precedence, as in Liquid. */
  condition(): Condition {
    const left = this.#negation();
    const kind = this.#token;
    if (this.#type !== 'word' || (kind !== 'and' && kind !== 'or')) return left;
    this.#advance();
    return { kind, left, right: this.condition() };
  }

  /** `item in list limit: 2 offset: 1 reversed` up to the end. */
  loopHead(): LoopHead {
    const item = this.name('a name for the items');
    if (!this.#acceptWord('in')) throw this.#expected('"in"');
    const of = this.value();
    let [limit, offset, reversed]: [Expression?, Expression?, boolean?] = [];
    while (this.#type !== 'end') {
      if (this.#acceptWord('reversed')) reversed = true;
      else if (this.#acceptWord('limit')) limit = this.#afterColon();
      else if (this.#acceptWord('offset')) offset = this.#afterColon();
      else throw this.#expected('"limit:", "offset:", "reversed"');
      this.#accept(',');
    }
    return { item, of, limit, offset, reversed: reversed === true };
  }

  /** The values of a `when` tag, separated by commas or `or`. */
  values(): Expression[] {
    const values = [this.value()];
    while (this.#accept(',') || this.#acceptWord('or')) values.push(this.value());
    this.end();
    return values;
  }

  /** `name = ` of an `assign` tag. */
  target(): string {
    const name = this.name('a name');
    if (!this.#accept('=')) throw this.#expected('"="');
    return name;
  }

  name(what: string): string {
    if (this.#type !== 'word') throw this.#expected(what);
    return this.#take();
  }

  end(): void {
    if (this.#type !== 'end') throw new SyntaxProblem(`does not expect ${JSON.stringify(this.#token)} here`);
  }

  value(): Expression {
    if (++this.#operations > MAX_OPERATIONS) throw tooMany();
    if (this.#type === 'string') return { kind: 'literal', value: this.#take().slice(1, -1) };
    if (this.#type === 'number') return { kind: 'literal', value: Number(this.#take()) };
    if (this.#accept('(')) return this.#range();
    if (this.#type !== 'word') throw this.#expected('a value');
    const word = this.#take();
    switch (word) {
      case 'true':
      case 'false':
        return { kind: 'literal', value: word === 'true' };
      case 'nil':
      case 'null':
        return { kind: 'literal', value: null };
      case 'empty':
      case 'blank':
        return { kind: 'state', name: word };
      default:
        return this.#path(word);
    }
  }

  #path(root: string): Expression {
    const keys: (string | number | Expression)[] = [root];
    let name = root;
    for (;;) {
      if (this.#accept('.')) {
        if (this.#type !== 'word' && this.#type !== 'number') throw this.#expected('a name after "."');
        keys.push(this.#take());
      } else if (this.#accept('[')) {
        const key = this.value();
        if (!this.#accept(']')) throw this.#expected('"]"');
        keys.push(key.kind === 'literal' && key.value !== null ? keyOf(key.value) : key);
      } else return { kind: 'path', name, keys };
      const last = keys.at(-1)!;
      name += `.${typeof last === 'object' ? '_' : String(last).replace(/[^\w-]+/g, '_')}`;
    }
  }

  #range(): Expression {
    const from = this.value();
    if (!this.#accept('..')) throw this.#expected('".."');
    const to = this.value();
    if (!this.#accept(')')) throw this.#expected('")"');
    return { kind: 'range', from, to };
  }

  #negation(): Condition {
    if (this.#type === 'word' && this.#token === 'not') {
      if (++this.#operations > MAX_OPERATIONS) throw tooMany();
      this.#advance();
      return { kind: 'not', of: this.#negation() };
    }
    const left = this.value();
    const kind = this.#token === '<>' ? '!=' : this.#token;
    if (kind === '=') throw new SyntaxProblem('compares with "==", not "="');
    if (kind === '|') throw new SyntaxProblem('takes no filters; assign the filtered value to a name first');
    if (!isComparison(kind) || this.#type === 'string') return { kind: 'truthy', of: left };
    this.#advance();
    return { kind, left, right: this.value() };
  }

  #filter(): { name: string; args: Expression[] } {
    if (++this.#operations > MAX_OPERATIONS) throw tooMany();
    const name = this.name('the name of a filter');
    const args: Expression[] = [];
    if (this.#accept(':')) {
      do args.push(this.value());
      while (this.#accept(','));
    }
    const problem = filterProblem(
      name,
      args.map((arg) => (arg.kind === 'literal' ? arg.value : undefined)),
    );
    if (problem !== undefined) throw new SyntaxProblem(problem);
    return { name, args };
  }

  #afterColon(): Expression {
    if (!this.#accept(':')) throw this.#expected('":"');
    return this.value();
  }

  #expected(what: string): SyntaxProblem {
    const found = this.#type === 'end' ? '' : `, not ${JSON.stringify(this.#token.slice(0, 40))}`;
    return new SyntaxProblem(`expects ${what}${found}`);
  }

  #accept(sign: string): boolean {
    if (this.#type !== 'sign' || this.#token !== sign) return false;
    this.#advance();
    return true;
  }

  #acceptWord(word: string): boolean {
    if (this.#type !== 'word' || this.#token !== word) return false;
    this.#advance();
    return true;
  }

  #take(): string {
    const token = this.#token;
    this.#advance();
    return token;
  }

  #advance(): void {
    TOKEN.lastIndex = this.#at;
    const match = TOKEN.exec(this.#source);
    if (match === null) {
      const rest = this.#source.slice(this.#at).trimStart();
      if (/^["']/.test(rest)) throw new SyntaxProblem('has a text with no closing quote');
      if (rest !== '') throw new SyntaxProblem(`does not expect ${JSON.stringify(rest.slice(0, 20))} here`);
      [this.#token, this.#type, this.#at] = ['', 'end', this.#source.length];
      return;
    }
    this.#at = TOKEN.lastIndex;
    const [, text, number, word, sign] = match;
    this.#token = text ?? number ?? word ?? sign!;
    this.#type = text !== undefined ? 'string' : number !== undefined ? 'number' : word !== undefined ? 'word' : 'sign';
  }
}

const tooMany = () => new SyntaxProblem(`has more than ${MAX_OPERATIONS} values, filters and comparisons`);
const keyOf = (value: string | number | boolean) => (typeof value === 'boolean' ? String(value) : value);
const isComparison = (token: string): token is Comparison => /^(?:[=!<>]=|[<>]|contains)$/.test(token);

/**
 * Whether the text after the first bar of a placeholder applies a filter. If not, it is the default value in the form
 * `{{name|there}}`: a filter is known, and has the arguments it requires.
 */
export function startsWithFilter(text: string): boolean {
  const [, name = '', next] = /^\s*([A-Za-z_]\w*)\s*([|:]|$)/.exec(text) ?? [];
  if (next === undefined) return false;
  return next === ':' || (Object.hasOwn(FILTERS, name) && (next === '|' || takesNoArguments(name)));
}

/** The names that an expression reads, as in `variables` or custom fields. */
export function* namesIn(node: Pipeline | Condition | Expression | LoopHead): Generator<string> {
  if ('keys' in node) yield node.name;
  for (const part of Object.values(node) as unknown[])
    for (const child of Array.isArray(part) ? (part as unknown[]) : [part])
      if (typeof child === 'object' && child !== null) yield* namesIn(child as Expression);
}
