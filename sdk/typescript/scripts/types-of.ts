type Schema = Record<string, unknown>;

interface Operation {
  operationId: string;
  summary?: string;
  parameters: Schema[];
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

export interface Document {
  paths: Record<string, Record<string, unknown>>;
  components: Record<string, Schema>;
}

/** The TypeScript of an OpenAPI document: its schemas, and the input and response of each operation. */
export function typesOf(document: Document): string {
  const schemas = Object.entries((document.components.schemas ?? {}) as Record<string, Schema>);
  const operations = operationsOf(document);
  return [
    '// Written by `npm run generate -w sdk/typescript` from the OpenAPI document; not edited by hand.\n',
    ...schemas.map(([name, schema]) => `${comment(schema.description, '')}${declaration(name, schema)}\n`),
    '/** What each operation of the API takes and answers with, by its `operationId`. */',
    `export interface Operations {\n${operations.map(({ operation }) => operationMember(operation)).join('\n')}\n}\n`,
    '/** The method and path of each operation. */',
    `export const OPERATIONS = {\n${operations.map(({ operation, at }) => `  ${operation.operationId}: '${at}',`).join('\n')}\n} as const satisfies Record<keyof Operations, string>;\n`,
  ].join('\n');
}

function operationsOf({ paths }: Document): { operation: Operation; at: string }[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      operation: operation as Operation,
      at: `${method.toUpperCase()} ${path}`,
    })),
  );
}

/** Declares an interface where possible, because editors show its name. */
function declaration(name: string, schema: Schema): string {
  const type = typeOf(schema, '');
  return type.startsWith('{') && type.endsWith('}')
    ? `export interface ${name} ${type}`
    : `export type ${name} = ${type};`;
}

function operationMember(operation: Operation): string {
  const parts = [
    `path: ${parametersType(operation, 'path')}`,
    `query: ${parametersType(operation, 'query')}`,
    `body: ${operation.requestBody === undefined ? 'undefined' : bodyType(operation)}`,
    `reply: ${replyType(operation)}`,
  ];
  return `${comment(operation.summary, '  ')}  ${operation.operationId}: {\n${parts.map((part) => `    ${part};`).join('\n')}\n  };`;
}

function bodyType({ requestBody }: Operation): string {
  const json = requestBody?.content['application/json'];
  // Bodies other than JSON are a file with its options.
  return json === undefined ? 'FormData' : typeOf(json.schema, '    ');
}

/** Responses other than JSON may be large, so they are streams. */
function replyType({ responses }: Operation): string {
  const replies = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content = {} }]) => {
      const json = content['application/json'];
      return json === undefined ? 'ReadableStream<Uint8Array>' : typeOf(json.schema, '    ');
    });
  return [...new Set(replies)].join(' | ');
}

function parametersType({ parameters }: Operation, place: 'path' | 'query'): string {
  const own = parameters.filter((parameter) => parameter.in === place);
  if (own.length === 0) return 'Record<never, never>';
  const members = own.map(({ name, required, schema, description }) =>
    member(name as string, { ...(schema as Schema), description }, required === true, '      '),
  );
  return `{\n${members.join('\n')}\n    }`;
}

function typeOf(schema: Schema, indent: string): string {
  if (typeof schema.$ref === 'string') return schema.$ref.split('/').at(-1) as string;
  if (schema.const !== undefined) return literal(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map(literal).join(' | ');
  if (Array.isArray(schema.allOf)) return (schema.allOf as Schema[]).map((each) => typeOf(each, indent)).join(' & ');
  const alternatives = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
  if (alternatives !== undefined) return [...new Set(alternatives.map((each) => typeOf(each, indent)))].join(' | ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type }, indent)).join(' | ');
  // The client serializes objects that are sent as JSON text.
  if (typeof schema.contentSchema === 'object') return typeOf(schema.contentSchema as Schema, indent);
  // In a form, text with its own media type is a file.
  if (typeof schema.contentMediaType === 'string') return 'Blob';
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return arrayType(typeOf((schema.items ?? {}) as Schema, indent), schema['x-or-one'] === true);
    case 'object':
      return objectType(schema, indent);
    default:
      return 'unknown';
  }
}

const literal = (value: unknown) => (typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : String(value));
const arrayOf = (item: string) => (/[|{ ]/.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`);

const arrayType = (item: string, orOne: boolean) => (orOne ? `${item} | ${arrayOf(item)}` : arrayOf(item));

function objectType(schema: Schema, indent: string): string {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
  const more = schema.additionalProperties;
  if (properties.length === 0) {
    return `Record<string, ${typeof more === 'object' && more !== null ? typeOf(more as Schema, indent) : 'unknown'}>`;
  }
  const required = new Set((schema.required ?? []) as string[]);
  const members = properties.map(([name, property]) => member(name, property, required.has(name), `${indent}  `));
  return `{\n${members.join('\n')}\n${indent}}`;
}

/** Optional members also accept undefined, which is common in calling code (`exactOptionalPropertyTypes`). */
function member(name: string, schema: Schema, required: boolean, indent: string): string {
  const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`;
  const type = typeOf(schema, indent);
  return `${comment(schema.description, indent)}${indent}${key}${required ? '' : '?'}: ${type}${required ? '' : ' | undefined'};`;
}

function comment(text: unknown, indent: string): string {
  if (typeof text !== 'string' || text === '') return '';
  const lines = text.replaceAll('*/', '*\\/').split('\n');
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}
