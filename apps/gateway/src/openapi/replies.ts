import { MAX_TOTAL, type Reply, type Route } from '@postroom/platform';
import {
  getNamedType,
  getNullableType,
  GraphQLNonNull,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isAbstractType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { operation } from '../rest/request.ts';
import { declared } from './scalars.ts';
import { type Components, described, either, type Schema } from './schemas.ts';
import { rootSelections, type Selection, SelectionSchemas, selections } from './selections.ts';

/**
 * The schema of each status a route responds with. Runs the route's `reply` on samples of what its document selects,
 * and finds the samples in the body; tries every boolean, enum value and null to find the alternatives.
 */
export function replySchemas(schema: GraphQLSchema, route: Route, components: Components): Map<number, Schema> {
  const sampler = new Sampler(schema, operation(route), components);
  const found = new Map<number, Schema>();
  let first: Schema | undefined;
  for (const choice of [undefined, ...sampler.choices()]) {
    const reply = replyTo(route, sampler.sample(choice), choice === undefined);
    if (reply === undefined) continue;
    const body = sampler.schemaOf(reply.body);
    first ??= body;
    const known = found.get(reply.status);
    found.set(reply.status, known === undefined ? body : either(known, body));
  }
  for (const status of route.statuses ?? []) if (!found.has(status)) found.set(status, first as Schema);
  for (const [status, body] of found) found.set(status, envelope(body));
  return found;
}

/** Descriptions of the members beside `data` (design: Lists), which GraphQL describes in its own terms. */
const ENVELOPE: Record<string, string> = {
  has_more: 'Whether there is a next page.',
  next_cursor: 'The `cursor` of the next page; null on the last page.',
  total: `The number of all results; ${MAX_TOTAL} means that many or more. Only present with \`total=true\`.`,
  deleted: 'Always true.',
};

function envelope(body: Schema): Schema {
  const members = Object.entries((body.properties ?? {}) as Record<string, Schema>);
  const properties = members.map(([name, { description, ...schema }]) => {
    // The operation describes its `data`; a response with the same `data` is the same schema for all operations.
    const said = name === 'data' ? undefined : (ENVELOPE[name] ?? (description as string | undefined));
    return [name, described(schema, said)];
  });
  return members.length === 0 ? body : { ...body, properties: Object.fromEntries(properties) };
}

/** A reply may reject impossible data, such as null for a required row; such samples are skipped. */
function replyTo(route: Route, data: unknown, required: boolean): Reply | undefined {
  try {
    return route.reply(data);
  } catch (error) {
    if (required) throw error;
    return undefined;
  }
}

/** A place in the sample, and an alternative value to try there. */
interface Choice {
  path: string;
  value: unknown;
}

/** The value of a member that is only selected on request (`@include`). */
const ABSENT = Symbol('absent');

/** How deep into the selection a reply may look to decide its response. */
const CHOICE_DEPTH = 4;

class Sampler {
  readonly #schema: GraphQLSchema;
  readonly #root: Selection[];
  readonly #schemas: SelectionSchemas;
  /** What the parts of samples stand for: objects and lists by identity, texts and numbers by unique values. */
  readonly #known = new Map<unknown, () => Schema>();
  /** Constant texts that replies write themselves. */
  readonly #literals = new Set<unknown>();
  #made = 0;

  constructor(schema: GraphQLSchema, of: OperationDefinitionNode, components: Components) {
    this.#schema = schema;
    this.#root = rootSelections(schema, of);
    this.#schemas = new SelectionSchemas(schema, components);
  }

  sample(choice: Choice | undefined): unknown {
    this.#known.clear();
    return this.#members(this.#root, '', choice);
  }

  /** All alternative values, at each place a reply may depend on. */
  choices(): Choice[] {
    return this.#root.flatMap((member) => this.#choicesAt(member, member.key, 1));
  }

  #choicesAt({ field, selectionSets, isOptional }: Selection, path: string, depth: number): Choice[] {
    if (isOptional) return [{ path, value: ABSENT }];
    return this.#choicesOf(field.type, selectionSets, path, depth);
  }

  #choicesOf(type: GraphQLOutputType, sets: readonly SelectionSetNode[], path: string, depth: number): Choice[] {
    const choices: Choice[] = isNonNullType(type) ? [] : [{ path, value: null }];
    const inner = getNullableType(type);
    if (isListType(inner)) return [...choices, ...this.#choicesOf(inner.ofType, sets, `${path}[]`, depth)];
    const named = getNamedType(inner);
    if (named.name === 'Boolean') choices.push({ path, value: false });
    if (isEnumType(named)) choices.push(...named.getValues().map((value) => ({ path, value: value.name })));
    if (isLeafType(named) || depth === CHOICE_DEPTH) return choices;
    for (const possible of this.#possible(named)) {
      if (isAbstractType(named)) choices.push({ path, value: possible });
      const members = selections(this.#schema, possible, sets);
      choices.push(...members.flatMap((member) => this.#choicesAt(member, `${path}.${member.key}`, depth + 1)));
    }
    return choices;
  }

  #possible(type: unknown): readonly GraphQLObjectType[] {
    return isAbstractType(type) ? this.#schema.getPossibleTypes(type) : [type as GraphQLObjectType];
  }

  #members(members: readonly Selection[], path: string, choice: Choice | undefined): Record<string, unknown> {
    const entries = members.flatMap((member): [string, unknown][] => {
      const at = path === '' ? member.key : `${path}.${member.key}`;
      if (choice?.path === at && choice.value === ABSENT) return [];
      return [[member.key, this.#value(member, at, choice)]];
    });
    return Object.fromEntries(entries);
  }

  #value(member: Selection, path: string, choice: Choice | undefined): unknown {
    const { description, type } = member.field;
    const say = (schema: Schema) => described({ ...schema, ...declared(member.field) }, description);
    return this.#ofType(type, member.selectionSets, path, choice, say);
  }

  /** A sample of a type, non-null unless chosen otherwise, remembered with its meaning. */
  #ofType(
    type: GraphQLOutputType,
    sets: readonly SelectionSetNode[],
    path: string,
    choice: Choice | undefined,
    say: (schema: Schema) => Schema = (schema) => schema,
  ): unknown {
    const chosen = choice?.path === path ? choice.value : undefined;
    if (chosen === null || chosen === false) return chosen;
    const present = getNullableType(type);
    const value = this.#present(present, sets, path, choice, chosen);
    // An enum value that replies also write as a constant can't be traced.
    if (value === true || this.#literals.has(value)) return value;
    this.#known.set(value, () => say(this.#schemas.ofType(new GraphQLNonNull(present), sets)));
    return value;
  }

  #present(
    type: GraphQLOutputType,
    sets: readonly SelectionSetNode[],
    path: string,
    choice: Choice | undefined,
    chosen: unknown,
  ): unknown {
    if (isListType(type)) return [this.#ofType(type.ofType, sets, `${path}[]`, choice)];
    const named = getNamedType(type);
    if (isLeafType(named)) return chosen ?? this.#leaf(named.name);
    const object = isObjectType(chosen) ? chosen : (this.#possible(named)[0] as GraphQLObjectType);
    return this.#members(selections(this.#schema, object, sets), path, choice);
  }

  #leaf(type: string): unknown {
    this.#made++;
    if (type === 'Boolean') return true;
    if (type === 'Int' || type === 'Float') return 1_000_000_000 + this.#made;
    return type === 'JSON' ? { sample: this.#made } : `sample ${this.#made}`;
  }

  /** The schema of a body that a reply built from samples. */
  schemaOf(value: unknown): Schema {
    const known = this.#known.get(value);
    if (known !== undefined) return known();
    if (value === null) return { type: 'null' };
    if (Array.isArray(value)) {
      const items = value.map((item) => this.schemaOf(item));
      return { type: 'array', ...(items.length === 0 ? {} : { items: items.reduce(either) }) };
    }
    if (typeof value === 'object') return this.#object(value);
    if (typeof value === 'number') return { type: Number.isInteger(value) ? 'integer' : 'number' };
    this.#literals.add(value);
    // Booleans that are always the same are not declared const: few generators support that.
    return typeof value === 'boolean' ? { type: 'boolean' } : { type: typeof value, const: value };
  }

  /** A reply may spread a selected object into a larger one; the schema is then an `allOf` of both. */
  #object(value: object): Schema {
    const whole = [...this.#known].find(([part]) => isSpreadInto(part, value));
    const members = Object.entries(value).filter(
      ([name, member]) => member !== undefined && !(whole !== undefined && name in (whole[0] as object)),
    );
    const own: Schema = {
      type: 'object',
      properties: Object.fromEntries(members.map(([name, member]) => [name, this.schemaOf(member)])),
      required: members.map(([name]) => name),
    };
    return whole === undefined ? own : { allOf: [whole[1](), own] };
  }
}

function isSpreadInto(part: unknown, value: object): boolean {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return false;
  const members = Object.entries(part);
  const isMore = Object.keys(value).length > members.length;
  return (
    isMore &&
    members.length > 1 &&
    members.every(([name, member]) => (value as Record<string, unknown>)[name] === member)
  );
}
