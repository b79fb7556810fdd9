import type { Datamodel } from './datamodel.ts';
import type { Resolver } from './resolver.ts';
import { type Node, type Piece, piecesOf, type SourceFile, type Use } from './source-file.ts';

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
const READS = new RegExp(
  String.raw`\b(?:FROM|JOIN|USING)\s+(?:ONLY\s+)?${NAME}(?:\s+(?:AS\s+)?(?!(?:JOIN|USING)\b)\w+)?`,
  'g',
);
/** The next table of a list, after `READS`. */
const NEXT = new RegExp(String.raw`\s*,\s*(?:ONLY\s+)?${NAME}(?:\s+(?:AS\s+)?(?!(?:JOIN|USING)\b)\w+)?`, 'y');

export function sqlUses(source: SourceFile, resolver: Resolver, datamodel: Datamodel): Use[] {
  return source.nodes.flatMap((node) => {
    const pieces = piecesOf(node);
    const parent = source.parents.get(node);
    // Parts of a longer text are read with it.
    if (pieces === undefined || (parent !== undefined && isPartOf(parent, node))) return [];
    return usesInSql(pieces, (expression) => resolver.strings(source, expression), source.file, source.text, datamodel);
  });
}

const isPartOf = (parent: Node, node: Node): boolean =>
  (parent.type === 'BinaryExpression' && piecesOf(parent) !== undefined) ||
  (parent.type === 'TemplateLiteral' && piecesOf(node) !== undefined);

export function usesInSql(
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
