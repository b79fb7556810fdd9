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
import { stated } from './scalars.ts';
import { type Components, described, either, type Schema } from './schemas.ts';
import { rootSelections, type Selection, SelectionSchemas, selections } from './selections.ts';

/**
 * The schema of each status that a route answers with. The envelope is found by running the route's own `reply` over
 * samples of what its document selects, and looking where in the body the parts of the sample are; what the reply makes
 * of a boolean, an enum or a null is found by trying each.
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

/** What the members beside the data mean (design: Lists). GraphQL describes them in its own terms. */
const ENVELOPE: Record<string, string> = {
  has_more: 'Whether there is a next page.',
  next_cursor: 'What to give as `cursor` for the next page; null on the last one.',
  total: `How many there are in all; ${MAX_TOTAL} means that many or more. Only if \`total=true\` asked for it.`,
  deleted: 'Always true: it is deleted.',
};

function envelope(body: Schema): Schema {
  const members = Object.entries((body.properties ?? {}) as Record<string, Schema>);
  const properties = members.map(([name, { description, ...schema }]) => {
    // The operation says what its data is; an answer around the same data is the same for all operations.
    const said = name === 'data' ? undefined : (ENVELOPE[name] ?? (description as string | undefined));
    return [name, described(schema, said)];
  });
  return members.length === 0 ? body : { ...body, properties: Object.fromEntries(properties) };
}

/** A reply may refuse what can't be, such as a null where it asks for a row: that tells nothing. */
function replyTo(route: Route, data: unknown, required: boolean): Reply | undefined {
  try {
    return route.reply(data);
  } catch (error) {
    if (required) throw error;
    return undefined;
  }
}

/** One place in the sample, and the value to try there instead of the usual one. */
interface Choice {
  path: string;
  value: unknown;
}

/** The value of a member that the document selects only on request (`@include`). */
const ABSENT = Symbol('absent');

/** How deep a reply may look into what was selected to decide what to answer. */
const CHOICE_DEPTH = 4;

class Sampler {
  readonly #schema: GraphQLSchema;
  readonly #root: Selection[];
  readonly #schemas: SelectionSchemas;
  /** What the parts of samples stand for: objects and lists by identity, texts and numbers by values nobody else makes. */
  readonly #known = new Map<unknown, () => Schema>();
  /** Texts that replies write themselves. */
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

  /** Every other value at each place that a reply may decide by. */
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
    const say = (schema: Schema) => described({ ...schema, ...stated(member.field) }, description);
    return this.#ofType(type, member.selectionSets, path, choice, say);
  }

  /** A value of a type that is not null unless that is chosen, and remembered by what it stands for. */
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
    // A value of an enum that a reply also writes itself can't be told from that.
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

  /** The schema of a body that a reply made of samples. */
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
    // A truth that is always the same is not said to be: few generators can read a boolean with one value.
    return typeof value === 'boolean' ? { type: 'boolean' } : { type: typeof value, const: value };
  }

  /** A reply may spread what was selected into an object with more: then it is said to be both. */
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
