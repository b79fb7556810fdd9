import { parseAst } from 'vite';

/**
 * Finds which tables each source file writes and reads: in SQL text (string constants, templates, `.sql` files) and in Prisma
 * calls, nested writes included. The module that has the table's name after the verb counts as the writer. A module that composes
 * another's exported fragment therefore writes nothing itself.
 */

/** The tables of all modules, from their `schema.prisma`. */
export interface Datamodel {
  /** Table → the module that owns it. */
  owners: Map<string, string>;
  /** Prisma delegate (`campaign`) → model. */
  models: Map<string, Model>;
}

interface Model {
  name: string;
  table: string;
  owner: string;
  /** Columns by Prisma field. */
  columns: Map<string, { column: string; type: string }>;
  /** Relation fields: the other model, and whether this side holds the foreign key. */
  relations: Map<string, { model: string; holdsKey: boolean }>;
}

/** A use of a table. `unresolved` is a write whose table the analysis cannot determine; it must be spelled out. */
export interface Use {
  kind: 'write' | 'read' | 'unresolved';
  file: string;
  line: number;
  /** The table, or the text of an unresolved write. */
  table: string;
}

/** An ESTree node; the members depend on its type. */
interface Node {
  type: string;
  start: number;
  end: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- narrowed by `type` where it is used
  [member: string]: any;
}

/** Reads the datamodel. @param schemas `schema.prisma` by module. */
export function readDatamodel(schemas: ReadonlyMap<string, string>): Datamodel {
  const models = new Map<string, Model>();
  for (const [owner, text] of schemas) {
    for (const [, name = '', body = ''] of text.matchAll(/^model (\w+) \{\n([\s\S]*?)^\}/gm)) {
      const model: Model = {
        name,
        owner,
        table: /@@map\("(\w+)"\)/.exec(body)?.[1] ?? name,
        columns: new Map(),
        relations: new Map(),
      };
      for (const [line, field = '', type = ''] of body.matchAll(/^ {2}(\w+) +(\w+)(?:\[\]|\?)?.*$/gm)) {
        const column = /@map\("(\w+)"\)/.exec(line)?.[1] ?? field;
        model.columns.set(field, { column, type });
        model.relations.set(field, { model: delegateOf(type), holdsKey: /@relation\([^)]*\bfields:/.test(line) });
      }
      models.set(delegateOf(name), model);
    }
  }
  for (const { columns, relations } of models.values())
    for (const [field, { model }] of relations) (models.has(model) ? columns : relations).delete(field);
  return { models, owners: new Map([...models.values()].map(({ table, owner }) => [table, owner])) };
}

const delegateOf = (model: string) => `${model.charAt(0).toLowerCase()}${model.slice(1)}`;

/**
 * Finds the uses of tables in all files.
 * @param files source text by path; `.ts`, `.tsx` and `.sql`.
 * @param ownerOf the module of a file.
 */
export function findUses(
  files: ReadonlyMap<string, string>,
  datamodel: Datamodel,
  ownerOf: (file: string) => string,
): Use[] {
  const modules = new Modules(files);
  const resolver = new Resolver(modules);
  return [...files].flatMap(([file, text]) => {
    if (file.endsWith('.sql')) return usesInSql([{ text, offset: 0 }], () => undefined, file, text, datamodel);
    const module = modules.get(file);
    if (module === undefined || !MAY_USE.test(text)) return [];
    return [...sqlUses(module, resolver, datamodel), ...prismaUses(module, resolver, datamodel, ownerOf(file))];
  });
}

/** What every file that uses a table contains. */
const MAY_USE =
  /\b(?:db|tx)\b|insert|update|delete|merge|truncate|copy|table|FROM|JOIN|create|upsert|find|count|aggregate|groupBy/i;

/** Source files, parsed when they are needed. */
class Modules {
  readonly #files: ReadonlyMap<string, string>;
  readonly #parsed = new Map<string, Module>();

  constructor(files: ReadonlyMap<string, string>) {
    this.#files = files;
  }

  get(file: string): Module | undefined {
    const text = this.#files.get(file);
    const module = this.#parsed.get(file) ?? (text === undefined ? undefined : new Module(file, text));
    if (module !== undefined) this.#parsed.set(file, module);
    return module;
  }
}

// ---- Sources -------------------------------------------------------------------------------------------------------

/** A parsed source file, with each node's parent. */
class Module {
  readonly file: string;
  readonly text: string;
  readonly program: Node;
  readonly parents = new Map<Node, Node>();
  readonly nodes: Node[] = [];

  constructor(file: string, text: string) {
    this.file = file;
    this.text = text;
    this.program = parseAst(text, { lang: file.endsWith('.tsx') ? 'tsx' : 'ts' }) as unknown as Node;
    this.#visit(this.program);
  }

  #visit(node: Node): void {
    this.nodes.push(node);
    for (const [member, value] of Object.entries(node)) {
      if (member === 'parent') continue;
      for (const child of [value].flat() as unknown[]) {
        if (typeof child !== 'object' || child === null || typeof (child as Node).type !== 'string') continue;
        this.parents.set(child as Node, node);
        this.#visit(child as Node);
      }
    }
  }

  lineAt(offset: number): number {
    return this.text.slice(0, offset).split('\n').length;
  }
}

/** A piece of a text: literal, or an expression whose value is not known from the text itself. */
type Piece = { text: string; offset: number } | { expression: Node };

/** Follows names to the constants they stand for, across files. */
class Resolver {
  readonly #modules: Modules;

  constructor(modules: Modules) {
    this.#modules = modules;
  }

  /** All strings that an expression can stand for; undefined if it is not a constant. */
  strings(module: Module, node: Node, depth = 0): string[] | undefined {
    const found = this.values(module, node, depth)?.map(({ module: of, node: value }) => {
      if (value.type === 'Literal' && typeof value.value === 'string') return [value.value as string];
      const pieces = piecesOf(value);
      if (pieces === undefined || depth > 8) return undefined;
      return pieces.reduce<string[] | undefined>(
        (texts, piece) => {
          const next = 'text' in piece ? [piece.text] : this.strings(of, piece.expression, depth + 1);
          return next && texts?.flatMap((text) => next.map((more) => text + more));
        },
        [''],
      );
    });
    return found === undefined || found.includes(undefined) ? undefined : (found as string[][]).flat();
  }

  /** The expressions that a name or member stands for, with the file each is in; undefined if there is no telling. */
  values(module: Module, node: Node, depth = 0): { module: Module; node: Node }[] | undefined {
    if (depth > 12) return undefined;
    const all = (nodes: (Node | null)[], of = module) => {
      const found = nodes.map((each) => (each === null ? undefined : this.values(of, each, depth + 1)));
      return found.includes(undefined) ? undefined : (found as { module: Module; node: Node }[][]).flat();
    };
    switch (node.type) {
      case 'TSAsExpression':
      case 'TSSatisfiesExpression':
      case 'TSNonNullExpression':
      case 'ParenthesizedExpression':
        return all([node.expression]);
      case 'ConditionalExpression':
        return all([node.consequent, node.alternate]);
      case 'LogicalExpression':
        return all([node.left, node.right]);
      case 'Identifier':
        return this.#binding(module, node, depth);
      case 'MemberExpression': {
        const objects = this.values(module, node.object, depth + 1);
        const found = objects?.map(({ module: of, node: object }) => {
          const members = membersOf(object);
          if (members === undefined) return undefined;
          if (node.computed && node.property.type !== 'Literal') return all([...members.values()], of);
          const member = members.get(String(node.computed ? node.property.value : node.property.name));
          return member === undefined ? undefined : this.values(of, member, depth + 1);
        });
        return found === undefined || found.includes(undefined)
          ? undefined
          : (found as { module: Module; node: Node }[][]).flat();
      }
      default:
        return [{ module, node }];
    }
  }

  #binding(module: Module, name: Node, depth: number): { module: Module; node: Node }[] | undefined {
    for (let scope: Node | undefined = name; scope !== undefined; scope = module.parents.get(scope)) {
      // The name of a parameter hides a constant of the same name.
      if ((scope.params as Node[] | undefined)?.some((parameter) => bindsName(parameter, name.name))) return undefined;
      if (scope.type === 'ForOfStatement') {
        const pattern: Node = scope.left.declarations?.[0]?.id ?? scope.left;
        const path = pathTo(pattern, name.name);
        if (path === undefined) continue;
        const elements = this.values(module, scope.right, depth + 1);
        return this.#follow(elements, [undefined, ...path], depth);
      }
      for (const statement of (Array.isArray(scope.body) ? scope.body : []) as Node[]) {
        const declaration: Node = statement.declaration ?? statement;
        for (const declarator of (declaration.declarations ?? []) as Node[]) {
          const path = pathTo(declarator.id, name.name);
          if (path === undefined) continue;
          if (declaration.kind !== 'const' || declarator.init === null) return undefined;
          return this.#follow(this.values(module, declarator.init, depth + 1), path, depth);
        }
        if (statement.type === 'ImportDeclaration') {
          const specifier = (statement.specifiers as Node[]).find((each) => each.local.name === name.name);
          if (specifier?.type === 'ImportSpecifier')
            return this.#exported(module, statement.source.value, specifier.imported.name, depth + 1);
        }
      }
    }
    return undefined;
  }

  /** Steps into arrays and objects; `undefined` in a path means any element. */
  #follow(
    from: { module: Module; node: Node }[] | undefined,
    path: readonly (string | undefined)[],
    depth: number,
  ): { module: Module; node: Node }[] | undefined {
    let here = from;
    for (const step of path) {
      const next = here?.map(({ module, node }) => {
        const members = membersOf(node);
        if (members === undefined) return undefined;
        const chosen = step === undefined ? [...members.values()] : [members.get(step)];
        const values = chosen.map((each) => each && this.values(module, each, depth + 1));
        return values.includes(undefined) ? undefined : (values as { module: Module; node: Node }[][]).flat();
      });
      here =
        next === undefined || next.includes(undefined)
          ? undefined
          : (next as { module: Module; node: Node }[][]).flat();
    }
    return here;
  }

  #exported(
    from: Module,
    specifier: string,
    name: string,
    depth: number,
  ): { module: Module; node: Node }[] | undefined {
    const module = this.#imported(from, specifier);
    if (module === undefined || depth > 12) return undefined;
    for (const statement of module.program.body as Node[]) {
      if (statement.type === 'ExportAllDeclaration') {
        const found = this.#exported(module, statement.source.value, name, depth + 1);
        if (found !== undefined) return found;
      }
      if (statement.type !== 'ExportNamedDeclaration') continue;
      const specifierOf = (statement.specifiers as Node[]).find((each) => each.exported.name === name);
      if (specifierOf !== undefined) {
        if (statement.source) return this.#exported(module, statement.source.value, specifierOf.local.name, depth + 1);
        return this.#binding(module, specifierOf.local, depth + 1);
      }
      for (const declarator of (statement.declaration?.declarations ?? []) as Node[])
        if (declarator.id.name === name && declarator.init !== null)
          return this.values(module, declarator.init, depth + 1);
    }
    return undefined;
  }

  #imported(from: Module, specifier: string): Module | undefined {
    if (specifier.startsWith('.'))
      return this.#modules.get(new URL(specifier, `file:///${from.file}`).pathname.slice(1));
    const [, name = '', subpath = 'index'] = /^@postroom\/([\w-]+)(?:\/([\w-]+))?$/.exec(specifier) ?? [];
    for (const folder of ['modules', 'packages', 'apps']) {
      const found = this.#modules.get(`${folder}/${name}/src/${subpath}.ts`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** The members of an array or object literal by index or key; undefined for anything else, or if some are not known. */
function membersOf(node: Node): Map<string, Node> | undefined {
  if (node.type === 'ArrayExpression') {
    const elements = node.elements as (Node | null)[];
    if (elements.some((each) => each === null || each.type === 'SpreadElement')) return undefined;
    return new Map(elements.map((each, index) => [String(index), each as Node]));
  }
  if (node.type !== 'ObjectExpression') return undefined;
  const properties = node.properties as Node[];
  if (properties.some((each) => each.type === 'SpreadElement' || each.computed)) return undefined;
  return new Map(properties.map((each) => [String(each.key.name ?? each.key.value), each.value as Node]));
}

const bindsName = (pattern: Node, name: string) => pathTo(pattern, name) !== undefined;

/** The path of a name inside a destructuring pattern; empty for a plain name, undefined if the pattern does not bind it. */
function pathTo(pattern: Node | null, name: string): string[] | undefined {
  if (pattern === null) return undefined;
  if (pattern.type === 'Identifier') return pattern.name === name ? [] : undefined;
  if (pattern.type === 'AssignmentPattern') return pathTo(pattern.left, name);
  if (pattern.type === 'TSParameterProperty') return pathTo(pattern.parameter, name);
  if (pattern.type === 'RestElement') return pathTo(pattern.argument, name) && ['…'];
  const parts: [string, Node][] =
    pattern.type === 'ArrayPattern'
      ? (pattern.elements as Node[]).map((each, index) => [String(index), each])
      : ((pattern.properties ?? []) as Node[]).map((each) => [String(each.key?.name ?? '…'), each.value ?? each]);
  for (const [key, part] of parts) {
    const rest = pathTo(part, name);
    if (rest !== undefined) return [key, ...rest];
  }
  return undefined;
}

/** The pieces of a string literal, template, concatenation or joined array of them; undefined for other expressions. */
function piecesOf(node: Node): Piece[] | undefined {
  const inside = (each: Node): Piece[] => piecesOf(each) ?? [{ expression: each }];
  switch (node.type) {
    case 'Literal':
      return typeof node.value === 'string' ? [{ text: node.value, offset: node.start + 1 }] : undefined;
    case 'TemplateLiteral':
      return (node.quasis as Node[]).flatMap((quasi, index) => {
        const expression = node.expressions[index] as Node | undefined;
        const piece: Piece = { text: String(quasi.value.cooked ?? quasi.value.raw), offset: quasi.start };
        return expression === undefined ? [piece] : [piece, ...inside(expression)];
      });
    case 'BinaryExpression':
      return node.operator === '+' ? [...inside(node.left), ...inside(node.right)] : undefined;
    case 'CallExpression': {
      const { callee } = node;
      const isJoin = callee.type === 'MemberExpression' && callee.property.name === 'join';
      if (!isJoin || callee.object.type !== 'ArrayExpression' || node.arguments[0]?.type !== 'Literal')
        return undefined;
      const between: Piece = { text: String(node.arguments[0].value), offset: node.arguments[0].start + 1 };
      return (callee.object.elements as Node[]).flatMap((each, index) => [
        ...(index > 0 ? [between] : []),
        ...inside(each),
      ]);
    }
    default:
      return undefined;
  }
}

// ---- SQL -----------------------------------------------------------------------------------------------------------

/** Stands for an expression inside a text. */
const HOLE = '\u0001';
const NAME = String.raw`(?:"?public"?\s*\.\s*)?"?([\w\u0001]+)"?`;

/**
 * Statements that write. Row locks (`FOR UPDATE`) do not count: they change nothing, and the module that composes a fragment often has
 * to lock rows in the owner's order first.
 */
const WRITES = new RegExp(
  [
    String.raw`\binsert\s+into\s+${NAME}`,
    String.raw`\bdelete\s+from\s+(?:only\s+)?${NAME}`,
    String.raw`\bmerge\s+into\s+(?:only\s+)?${NAME}`,
    String.raw`\bupdate\s+(?:only\s+)?${NAME}(?:\s*\*)?(?:\s+(?:as\s+)?"?\w+"?)?\s+set\b`,
    String.raw`\btruncate\s+(?:table\s+)?(?:only\s+)?${NAME}`,
    String.raw`\bcopy\s+${NAME}\s*(?:\([^)]*\))?\s*from\b`,
    String.raw`\b(?:alter|drop)\s+table\s+(?:if\s+exists\s+)?(?:only\s+)?${NAME}`,
  ].join('|'),
  'gi',
);
/** A verb that ends its text: the table would follow in another one, which hides it. */
const DANGLING =
  /\b(?:INSERT\s+INTO|DELETE\s+FROM|MERGE\s+INTO|(?<!\b(?:FOR|KEY|DO)\s+)UPDATE|TRUNCATE(?:\s+TABLE)?)\s*$/;
/** Keywords are upper-case in our SQL; lower case is prose. */
const READS = new RegExp(String.raw`\b(?:FROM|JOIN|USING)\s+(?:ONLY\s+)?${NAME}(?:\s+(?:AS\s+)?\w+)?`, 'g');
/** The next table of a list, after `READS`. */
const NEXT = new RegExp(String.raw`\s*,\s*(?:ONLY\s+)?${NAME}(?:\s+(?:AS\s+)?\w+)?`, 'y');

function sqlUses(module: Module, resolver: Resolver, datamodel: Datamodel): Use[] {
  return module.nodes.flatMap((node) => {
    const pieces = piecesOf(node);
    const parent = module.parents.get(node);
    // Parts of a longer text are read with it.
    if (pieces === undefined || (parent !== undefined && isPartOf(parent, node))) return [];
    return usesInSql(pieces, (expression) => resolver.strings(module, expression), module.file, module.text, datamodel);
  });
}

const isPartOf = (parent: Node, node: Node): boolean =>
  (parent.type === 'BinaryExpression' && piecesOf(parent) !== undefined) ||
  (parent.type === 'TemplateLiteral' && piecesOf(node) !== undefined);

function usesInSql(
  pieces: readonly Piece[],
  resolve: (expression: Node) => readonly string[] | undefined,
  file: string,
  source: string,
  { owners }: Datamodel,
): Use[] {
  const text = pieces.map((piece) => ('text' in piece ? withoutComments(piece.text) : HOLE)).join('');
  const holes = pieces.filter((piece) => 'expression' in piece);
  const lineOf = (index: number) => source.slice(0, offsetOf(pieces, index)).split('\n').length;
  const uses: Use[] = [];
  const use = (kind: 'write' | 'read', name: string, index: number) => {
    const line = lineOf(index);
    if (!name.includes(HOLE)) {
      if (owners.has(name)) uses.push({ kind, file, line, table: name });
      return;
    }
    let hole = text.slice(0, text.indexOf(name, index)).split(HOLE).length - 1;
    let names: string[] | undefined = [''];
    for (const character of name) {
      const next = character === HOLE ? resolve(holes[hole++]!.expression) : [character];
      names = next && names?.flatMap((known) => next.map((more) => known + more.replaceAll('"', '').trim()));
    }
    if (names === undefined) {
      if (kind === 'write') uses.push({ kind: 'unresolved', file, line, table: snippet(text, index) });
      return;
    }
    for (const each of new Set(names.map((known) => known.split(/\s/)[0] ?? '')))
      if (owners.has(each)) uses.push({ kind, file, line, table: each });
  };
  for (const match of text.matchAll(WRITES)) {
    const name = match.slice(1).find((each) => each !== undefined) ?? '';
    use('write', name, match.index);
  }
  for (const match of text.matchAll(READS)) {
    use('read', match[1] ?? '', match.index);
    NEXT.lastIndex = match.index + match[0].length;
    for (let next; (next = NEXT.exec(text)) !== null;) use('read', next[1] ?? '', next.index);
  }
  if (DANGLING.test(text))
    uses.push({
      kind: 'unresolved',
      file,
      line: lineOf(text.length - 1),
      table: snippet(text, Math.max(0, text.length - 40)),
    });
  return uses;
}

/** Blanks `--` and block comments, keeping offsets. */
const withoutComments = (text: string) =>
  text.replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ' '));

function offsetOf(pieces: readonly Piece[], index: number): number {
  let left = index;
  let last = 0;
  for (const piece of pieces) {
    const length = 'text' in piece ? piece.text.length : 1;
    last = 'text' in piece ? piece.offset : piece.expression.start;
    if (left < length) return last + ('text' in piece ? left : 0);
    left -= length;
  }
  return last;
}

const snippet = (text: string, index: number) =>
  text
    .slice(index, index + 60)
    .replaceAll(HOLE, '${…}')
    .replaceAll(/\s+/g, ' ')
    .trim();

// ---- Prisma --------------------------------------------------------------------------------------------------------

const WRITE_CALL = /^(create|update|upsert|delete)(Many|ManyAndReturn)?$/;
const READ_CALL = /^(find(First|Unique)(OrThrow)?|findMany|count|aggregate|groupBy)$/;
/** Our functions that only read from the delegate they are given. */
const READERS = ['readRows'];
/** Members of a nested write; `connect`, `disconnect` and `set` write where the foreign key is. */
const NESTED_WRITES = [
  'create',
  'createMany',
  'connectOrCreate',
  'update',
  'updateMany',
  'upsert',
  'delete',
  'deleteMany',
];
const NESTED_LINKS = ['connect', 'disconnect', 'set', 'connectOrCreate'];
/** Names that a Prisma client has in our code. */
const CLIENT = /^(db|tx|client|prisma|transaction|within)$/;

function prismaUses(module: Module, resolver: Resolver, datamodel: Datamodel, owner: string): Use[] {
  const uses: Use[] = [];
  for (const node of module.nodes) {
    if (node.type === 'Property') uses.push(...nestedWrites(module, node, resolver, datamodel, owner));
    if (node.type !== 'MemberExpression') continue;
    const delegate = node.computed ? resolver.strings(module, node.property) : [String(node.property.name)];
    const isClient = node.object.type === 'Identifier' && CLIENT.test(node.object.name as string);
    const method = methodOf(module, node);
    const line = module.lineAt(node.start);
    if (delegate === undefined) {
      if (isClient && method !== undefined && WRITE_CALL.test(method))
        uses.push({ kind: 'unresolved', file: module.file, line, table: module.text.slice(node.start, node.end) });
      continue;
    }
    for (const name of delegate) {
      const model = datamodel.models.get(name);
      if (model === undefined) continue;
      if (method === undefined) {
        // Kept under another name, it could be written through that.
        const parent = module.parents.get(node);
        const isRead = parent?.type === 'CallExpression' && READERS.includes(String(parent.callee.name));
        if (isClient) uses.push({ kind: isRead ? 'read' : 'write', file: module.file, line, table: model.table });
      } else if (WRITE_CALL.test(method)) {
        uses.push({ kind: 'write', file: module.file, line, table: model.table });
      } else if (READ_CALL.test(method)) uses.push({ kind: 'read', file: module.file, line, table: model.table });
    }
  }
  return uses;
}

/** The method that is called on a delegate. */
function methodOf(module: Module, delegate: Node): string | undefined {
  const member = module.parents.get(delegate);
  const isCalledOn = member?.type === 'MemberExpression' && member.object === delegate && !member.computed;
  return isCalledOn ? String(member.property.name) : undefined;
}

/**
 * The writes of a property that has a relation's name and a nested write as its value. The object it is in may reach Prisma from
 * anywhere, so every model with a relation of that name counts, unless one belongs to the module itself.
 */
function nestedWrites(module: Module, property: Node, resolver: Resolver, { models }: Datamodel, owner: string): Use[] {
  const field = String(property.key.name ?? property.key.value);
  const relations = [...models.values()].flatMap(({ relations: of }) => of.get(field) ?? []);
  if (relations.length === 0) return [];
  const members = (resolver.values(module, property.value) ?? []).flatMap(({ node }) =>
    ((node.type === 'ObjectExpression' ? node.properties : []) as Node[]).map((each) => String(each.key?.name)),
  );
  const writes = members.some((member) => NESTED_WRITES.includes(member));
  const links = members.some((member) => NESTED_LINKS.includes(member));
  const written = relations.filter(({ holdsKey }) => writes || (links && !holdsKey));
  const targets = written.map(({ model }) => models.get(model)!);
  const own = targets.filter((target) => target.owner === owner);
  return [...new Set((own.length > 0 ? own : targets).map(({ table }) => table))].map((table) => ({
    kind: 'write',
    file: module.file,
    line: module.lineAt(property.start),
    table,
  }));
}
