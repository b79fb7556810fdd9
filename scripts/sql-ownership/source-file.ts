import { parseAst } from 'vite';

/** An ESTree node; the members depend on its type. */
export interface Node {
  type: string;
  start: number;
  end: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- narrowed by `type` where it is used
  [member: string]: any;
}

/** Source files, parsed when they are needed. */
export class SourceFiles {
  readonly #files: ReadonlyMap<string, string>;
  readonly #parsed = new Map<string, SourceFile>();

  constructor(files: ReadonlyMap<string, string>) {
    this.#files = files;
  }

  get(file: string): SourceFile | undefined {
    const text = this.#files.get(file);
    const parsed = this.#parsed.get(file) ?? (text === undefined ? undefined : new SourceFile(file, text));
    if (parsed !== undefined) this.#parsed.set(file, parsed);
    return parsed;
  }
}

/** A parsed source file, with each node's parent. */
export class SourceFile {
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
export type Piece = { text: string; offset: number } | { expression: Node };

/** The pieces of a string literal, template, concatenation or joined array of them; undefined for other expressions. */
export function piecesOf(node: Node): Piece[] | undefined {
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

/** A use of a table. `unresolved` is a write whose table the analysis cannot determine; it must be spelled out. */
export interface Use {
  kind: 'write' | 'read' | 'unresolved';
  file: string;
  line: number;
  /** The table, or the text of an unresolved write. */
  table: string;
}
