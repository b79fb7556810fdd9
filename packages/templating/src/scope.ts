import { applyFilter } from './filters.ts';
import type { Condition, Expression, LoopHead, Pipeline } from './expression.ts';
import { includes } from './search.ts';
import { cost, countKeys, isNothing, RenderError, toNumber, toText, type Work } from './values.ts';

/** Maximum work of one render: a pass of a loop counts its placeholders and tags, a filter at least one unit. */
export const MAX_WORK = 1_000_000;

/** A running loop. */
interface Frame {
  readonly item: string;
  readonly items: readonly unknown[];
  index: number;
}

/** What the placeholders and tags of one render read: the values, the names that tags set, and the work done so far. */
export class Scope {
  readonly values: Readonly<Record<string, unknown>>;
  /** Whether names besides those of the values may exist. */
  hasLocals = false;
  #assigned: Map<string, unknown> | undefined;
  readonly #frames: Frame[] = [];
  #work = 0;

  readonly #maxWork: number;

  constructor(values: Readonly<Record<string, unknown>>, maxWork = MAX_WORK) {
    this.values = values;
    this.#maxWork = maxWork;
  }

  /** @throws RenderError when the render has done too much. */
  spend(units: number): void {
    this.#work += units;
    if (this.#work > this.#maxWork)
      throw new RenderError(
        `The template needs more than ${this.#maxWork} steps: loop over fewer items, or over less.`,
      );
  }

  assign(name: string, pipeline: Pipeline): void {
    this.spend(1);
    const value = this.run(pipeline);
    this.hasLocals = true;
    this.#assigned ??= new Map();
    this.#assigned.set(name, value);
  }

  /** Starts a loop; false if it has no items. */
  enter(head: LoopHead): boolean {
    this.spend(1);
    let items = this.#itemsOf(this.evaluate(head.of));
    this.spend(items.length);
    const offset = Math.max(0, Math.trunc(toNumber(head.offset && this.evaluate(head.offset))));
    const limit =
      head.limit === undefined ? items.length : Math.max(0, Math.trunc(toNumber(this.evaluate(head.limit))));
    if (offset > 0 || limit < items.length) items = items.slice(offset, offset + limit);
    if (head.reversed) items = items.toReversed();
    if (items.length === 0) return false;
    this.hasLocals = true;
    this.#frames.push({ item: head.item, items, index: 0 });
    return true;
  }

  /** Moves the innermost loop to its next item; false, and the loop has ended, if there is none. */
  advance(): boolean {
    const frame = this.#frames.at(-1)!;
    if (++frame.index < frame.items.length) return true;
    this.#frames.pop();
    return false;
  }

  /** The value of a pipeline, with its filters applied. @throws RenderError if a bound is exceeded. */
  run({ value, filters }: Pipeline): unknown {
    let result = this.evaluate(value);
    for (const { name, args } of filters)
      result = applyFilter(
        name,
        result,
        args.map((arg) => this.evaluate(arg)),
        this,
      );
    return result;
  }

  evaluate(expression: Expression): unknown {
    switch (expression.kind) {
      case 'literal':
        return expression.value;
      case 'state':
        return STATES[expression.name];
      case 'path':
        return this.#lookup(expression.name, expression.keys);
      case 'range': {
        const [from, to] = [toNumber(this.evaluate(expression.from)), toNumber(this.evaluate(expression.to))].map(
          Math.trunc,
        );
        const length = Math.max(0, to! - from! + 1);
        this.spend(length);
        return Array.from({ length }, (_, index) => from! + index);
      }
    }
  }

  /** Whether a condition holds. Only `nil` and `false` are false by themselves, as in Liquid. */
  holds(condition: Condition): boolean {
    switch (condition.kind) {
      case 'and':
        return this.holds(condition.left) && this.holds(condition.right);
      case 'or':
        return this.holds(condition.left) || this.holds(condition.right);
      case 'not':
        return !this.holds(condition.of);
      case 'truthy': {
        const value = this.evaluate(condition.of);
        return !isNothing(value) && value !== false;
      }
    }
    const [left, right] = [this.evaluate(condition.left), this.evaluate(condition.right)];
    switch (condition.kind) {
      case '==':
        return this.#equal(left, right);
      case '!=':
        return !this.#equal(left, right);
      case 'contains':
        return this.#contains(left, right);
      default:
        return isOrdered(condition.kind, left, right);
    }
  }

  #lookup(name: string, keys: readonly (string | number | Expression)[]): unknown {
    const root = keys[0] as string;
    if (keys.length > 1 && !this.hasLocals && Object.hasOwn(this.values, name)) return this.values[name];
    let value = this.#local(root);
    if (value === undefined) value = Object.hasOwn(this.values, root) ? this.values[root] : undefined;
    for (let i = 1; i < keys.length && !isNothing(value); i++) {
      const key = keys[i]!;
      value = property(value, typeof key === 'object' ? this.evaluate(key) : key, this);
    }
    return value;
  }

  #local(name: string): unknown {
    for (let i = this.#frames.length - 1; i >= 0; i--) {
      const { item, items, index } = this.#frames[i]!;
      if (item === name) return items[index];
      if (name === 'forloop') return loopOf(index, items.length);
    }
    return this.#assigned?.get(name);
  }

  #itemsOf(value: unknown): readonly unknown[] {
    if (Array.isArray(value)) return value as unknown[];
    if (isNothing(value) || value === '' || value instanceof Date) return [];
    if (typeof value === 'string') return [value];
    if (typeof value !== 'object') return [];
    countKeys(value, this);
    return Object.entries(value as object);
  }

  #equal(left: unknown, right: unknown): boolean {
    this.spend(cost(left) + cost(right));
    for (const [value, other] of [
      [left, right],
      [right, left],
    ])
      if (typeof other === 'symbol') return matchesState(value, other === STATES.empty ? 'empty' : 'blank', this);
    if (Array.isArray(left) && Array.isArray(right))
      return left.length === right.length && left.every((item, i) => item === right[i]);
    return left === right || (isNothing(left) && isNothing(right));
  }

  #contains(left: unknown, right: unknown): boolean {
    this.spend(cost(left) + cost(right));
    if (typeof left === 'string') return isScalar(right) && includes(left, toText(right));
    return Array.isArray(left) && left.includes(right);
  }
}

const loopOf = (index: number, length: number) => ({
  index: index + 1,
  index0: index,
  rindex: length - index,
  rindex0: length - index - 1,
  first: index === 0,
  last: index === length - 1,
  length,
});

/** Own properties only, so that neither prototypes nor methods can be reached. */
function property(value: unknown, key: unknown, work: Work): unknown {
  if (Array.isArray(value)) {
    if (key === 'size') return value.length;
    if (key === 'first') return value[0] as unknown;
    if (key === 'last') return value.at(-1) as unknown;
    const index = typeof key === 'string' && /^-?\d{1,9}$/.test(key) ? Number(key) : key;
    return Number.isInteger(index) ? (value.at(index as number) as unknown) : undefined;
  }
  if (typeof value === 'string') return key === 'size' ? value.length : undefined;
  if (typeof value !== 'object' || value === null || (typeof key !== 'string' && typeof key !== 'number'))
    return undefined;
  if (Object.hasOwn(value, key)) return (value as Record<string, unknown>)[key];
  return key === 'size' ? countKeys(value, work) : undefined;
}

const isScalar = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

function isOrdered(comparison: '<' | '>' | '<=' | '>=', left: unknown, right: unknown): boolean {
  if (!isScalar(left) || !isScalar(right)) return false;
  const [a, b] = [left as number, right as number];
  switch (comparison) {
    case '<':
      return a < b;
    case '>':
      return a > b;
    case '<=':
      return a <= b;
    case '>=':
      return a >= b;
  }
}

/** What `empty` and `blank` are when they are read. */
const STATES = { empty: Symbol('empty'), blank: Symbol('blank') };

function matchesState(value: unknown, state: 'empty' | 'blank', work: Work): boolean {
  if (typeof value === 'string') return state === 'blank' ? value.trim() === '' : value === '';
  if (Array.isArray(value)) return value.length === 0;
  if (state === 'blank' && (isNothing(value) || value === false)) return true;
  return typeof value === 'object' && value !== null && !(value instanceof Date) && countKeys(value, work) === 0;
}
