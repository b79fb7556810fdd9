import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule, { type FormatsPlugin } from 'ajv-formats';
import type { OpenApiDocument } from '../../src/openapi/document.ts';
import type { Schema } from '../../src/openapi/schemas.ts';

// A CommonJS package with wrong module metadata.
const addFormats = addFormatsModule as unknown as FormatsPlugin;

/** A response to check. */
export interface Answer {
  method: string;
  /** The path of the route, such as `/v1/groups/{id}`. */
  route: string;
  status: number;
  body: unknown;
}

/**
 * Compares responses with the document. Undocumented members are problems too: clients must be able to rely on the
 * document being complete.
 */
export class Conformance {
  readonly #document: OpenApiDocument;
  readonly #named: Record<string, Schema>;
  /** By the schema in the document: compiling one takes longer than a request. */
  readonly #compiled = new Map<Schema, ValidateFunction>();
  readonly #ajv = new Ajv2020({
    strict: true,
    allErrors: true,
    allowUnionTypes: true,
    strictTypes: false,
    strictRequired: false,
  });

  constructor(document: OpenApiDocument) {
    this.#document = document;
    this.#named = document.components.schemas as Record<string, Schema>;
    addFormats(this.#ajv);
    this.#ajv.addFormat('int32', { type: 'number', validate: (value: number) => (value | 0) === value });
    for (const keyword of ['example', 'discriminator', 'x-enum-varnames', 'x-or-one']) this.#ajv.addKeyword(keyword);
    this.#ajv.addSchema({ $id: 'document', $defs: asDefinitions(closed(document.components.schemas, this.#named)) });
  }

  /** Compiles every named schema; throws for an invalid one. */
  compileAll(): void {
    for (const name of Object.keys(this.#named)) this.#compile({ $ref: `#/components/schemas/${name}` });
  }

  /** The problems of a value for a schema of the document; empty when it conforms. */
  problems(schema: Schema, value: unknown): string[] {
    const validate = this.#compiled.get(schema) ?? this.#compile(closed(schema, this.#named) as Schema);
    this.#compiled.set(schema, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  }

  /** The problems of a response, such as an undocumented status or body. */
  problemsOf({ method, route, status, body }: Answer): string[] {
    const documented = this.#document.paths[route]?.[method.toLowerCase()]?.responses[String(status)];
    if (documented === undefined) return [`${method} ${route} answered ${status}, which the document does not have`];
    const response = this.#resolved(documented) as { content?: Record<string, { schema: Schema }> };
    const schema = response.content?.['application/json']?.schema;
    if (schema === undefined) return body === undefined ? [] : [`${method} ${route} answered ${status} with a body`];
    return this.problems(schema, body).map((problem) => `${method} ${route} ${status}: ${problem}`);
  }

  #resolved(part: Schema): Schema {
    if (typeof part.$ref !== 'string') return part;
    const [, , kind = '', name = ''] = part.$ref.split('/');
    return (this.#document.components[kind] as Record<string, Schema>)[name] as Schema;
  }

  #compile(schema: Schema) {
    return this.#ajv.compile(asDefinitions(schema) as Schema);
  }
}

/** Rewrites references to JSON Schema definitions. */
const asDefinitions = (part: unknown): unknown =>
  JSON.parse(JSON.stringify(part).replaceAll('"#/components/schemas/', '"document#/$defs/'));

/** The same schemas without additional members; `named` are the targets of `$ref`. */
function closed(part: unknown, named: Record<string, Schema>): unknown {
  if (Array.isArray(part)) return part.map((each) => closed(each, named));
  if (typeof part !== 'object' || part === null) return part;
  const schema = part as Schema;
  if (Array.isArray(schema.allOf))
    return { allOf: schema.allOf.map((each) => open(each, named)), unevaluatedProperties: false };
  const whole =
    schema.type === 'object' && schema.properties !== undefined && schema.additionalProperties === undefined;
  return { ...inside(schema, named), ...(whole ? { additionalProperties: false } : {}) };
}

/** The parts of an `allOf` must stay open, because each ignores the others' members. */
function open(schema: Schema, named: Record<string, Schema>): unknown {
  const whole = typeof schema.$ref === 'string' ? named[schema.$ref.split('/').at(-1) as string] : schema;
  return inside(whole as Schema, named);
}

const inside = (schema: Schema, named: Record<string, Schema>) =>
  Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, key === 'example' ? value : closed(value, named)]),
  );
