import { type Node, piecesOf, type SourceFile, type SourceFiles } from './source-file.ts';

/** Follows names to the constants they stand for, across files. */
export class Resolver {
  readonly #files: SourceFiles;

  constructor(files: SourceFiles) {
    this.#files = files;
  }

  /** All strings that an expression can stand for; undefined if it is not a constant. */
  strings(source: SourceFile, node: Node, depth = 0): string[] | undefined {
    const found = this.values(source, node, depth)?.map(({ source: of, node: value }) => {
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
  values(source: SourceFile, node: Node, depth = 0): { source: SourceFile; node: Node }[] | undefined {
    if (depth > 12) return undefined;
    const all = (nodes: (Node | null)[], of = source) => {
      const found = nodes.map((each) => (each === null ? undefined : this.values(of, each, depth + 1)));
      return found.includes(undefined) ? undefined : (found as { source: SourceFile; node: Node }[][]).flat();
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
        return this.#binding(source, node, depth);
      case 'MemberExpression': {
        const objects = this.values(source, node.object, depth + 1);
        const found = objects?.map(({ source: of, node: object }) => {
          const members = membersOf(object);
          if (members === undefined) return undefined;
          if (node.computed && node.property.type !== 'Literal') return all([...members.values()], of);
          const member = members.get(String(node.computed ? node.property.value : node.property.name));
          return member === undefined ? undefined : this.values(of, member, depth + 1);
        });
        return found === undefined || found.includes(undefined)
          ? undefined
          : (found as { source: SourceFile; node: Node }[][]).flat();
      }
      default:
        return [{ source, node }];
    }
  }

  #binding(source: SourceFile, name: Node, depth: number): { source: SourceFile; node: Node }[] | undefined {
    for (let scope: Node | undefined = name; scope !== undefined; scope = source.parents.get(scope)) {
      // The name of a parameter hides a constant of the same name.
      if ((scope.params as Node[] | undefined)?.some((parameter) => bindsName(parameter, name.name))) return undefined;
      if (scope.type === 'ForOfStatement') {
        const pattern: Node = scope.left.declarations?.[0]?.id ?? scope.left;
        const path = pathTo(pattern, name.name);
        if (path === undefined) continue;
        const elements = this.values(source, scope.right, depth + 1);
        return this.#follow(elements, [undefined, ...path], depth);
      }
      for (const statement of (Array.isArray(scope.body) ? scope.body : []) as Node[]) {
        const declaration: Node = statement.declaration ?? statement;
        for (const declarator of (declaration.declarations ?? []) as Node[]) {
          const path = pathTo(declarator.id, name.name);
          if (path === undefined) continue;
          if (declaration.kind !== 'const' || declarator.init === null) return undefined;
          return this.#follow(this.values(source, declarator.init, depth + 1), path, depth);
        }
        if (statement.type === 'ImportDeclaration') {
          const specifier = (statement.specifiers as Node[]).find((each) => each.local.name === name.name);
          if (specifier?.type === 'ImportSpecifier')
            return this.#exported(source, statement.source.value, specifier.imported.name, depth + 1);
        }
      }
    }
    return undefined;
  }

  /** Steps into arrays and objects; `undefined` in a path means any element. */
  #follow(
    from: { source: SourceFile; node: Node }[] | undefined,
    path: readonly (string | undefined)[],
    depth: number,
  ): { source: SourceFile; node: Node }[] | undefined {
    let here = from;
    for (const step of path) {
      const next = here?.map(({ source, node }) => {
        const members = membersOf(node);
        if (members === undefined) return undefined;
        const chosen = step === undefined ? [...members.values()] : [members.get(step)];
        const values = chosen.map((each) => each && this.values(source, each, depth + 1));
        return values.includes(undefined) ? undefined : (values as { source: SourceFile; node: Node }[][]).flat();
      });
      here =
        next === undefined || next.includes(undefined)
          ? undefined
          : (next as { source: SourceFile; node: Node }[][]).flat();
    }
    return here;
  }

  #exported(
    from: SourceFile,
    specifier: string,
    name: string,
    depth: number,
  ): { source: SourceFile; node: Node }[] | undefined {
    const source = this.#imported(from, specifier);
    if (source === undefined || depth > 12) return undefined;
    for (const statement of source.program.body as Node[]) {
      if (statement.type === 'ExportAllDeclaration') {
        const found = this.#exported(source, statement.source.value, name, depth + 1);
        if (found !== undefined) return found;
      }
      if (statement.type !== 'ExportNamedDeclaration') continue;
      const specifierOf = (statement.specifiers as Node[]).find((each) => each.exported.name === name);
      if (specifierOf !== undefined) {
        if (statement.source) return this.#exported(source, statement.source.value, specifierOf.local.name, depth + 1);
        return this.#binding(source, specifierOf.local, depth + 1);
      }
      for (const declarator of (statement.declaration?.declarations ?? []) as Node[])
        if (declarator.id.name === name && declarator.init !== null)
          return this.values(source, declarator.init, depth + 1);
    }
    return undefined;
  }

  #imported(from: SourceFile, specifier: string): SourceFile | undefined {
    if (specifier.startsWith('.')) return this.#files.get(new URL(specifier, `file:///${from.file}`).pathname.slice(1));
    const [, name = '', subpath = 'index'] = /^@postroom\/([\w-]+)(?:\/([\w-]+))?$/.exec(specifier) ?? [];
    for (const folder of ['modules', 'packages', 'apps']) {
      const found = this.#files.get(`${folder}/${name}/src/${subpath}.ts`);
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
