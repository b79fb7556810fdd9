import { type ESTree, parseSync, Visitor } from 'vite';

/** A piece of prose and the line on which it starts, counted from 1. */
export interface Passage {
  line: number;
  text: string;
  isComment?: boolean;
}

/** Two words in a row. Identifiers, URLs and most fragments of code have none. */
const WORDS = /\p{L}{2,},? \p{L}+/u;
/** SQL, programs, GraphQL documents, CSS, HTML and user agents. */
const CODE = [
  /\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|FROM|WHERE|AS|SET|VALUES|CASE WHEN|ORDER BY|IS NULL|(CREATE|DROP|TRUNCATE) \w+)\b /,
  /^\s*(import|const|return|def) \w/m,
  /^\s*(query|mutation|subscription|fragment)\b.*\{| \{\s+\w|\w \{[^}]*: |^\s*<|^Mozilla\//s,
];
/** An option in a usage text, or a tag in a comment. */
const NEW_PASSAGE = /\n(?=\s*(?:--?\w|@\w|npm run))/;
const CODE_ATTRIBUTES = new Set(['className', 'style', 'd', 'viewBox', 'rel', 'sandbox']);
const IS_TEST = /(^|\/)test\/|\.test\.\w+$/;

/** The comments, string literals, templates and JSX text of a TypeScript file. The strings of tests are data, except titles. */
export function proseOf(file: string, source: string): Passage[] {
  const { program, comments } = parseSync(file, source);
  const passages: Passage[] = [];
  const add = (start: number, text: string, isComment = false) => {
    if (!WORDS.test(text)) return;
    let line = source.slice(0, start).split('\n').length;
    for (const part of text.split(NEW_PASSAGE)) {
      passages.push({ line, text: part, isComment });
      line += part.split('\n').length;
    }
  };
  for (const { start, text } of joinLines(source, comments)) add(start, text, true);

  const skipped = new Set<unknown>();
  const addString = (node: ESTree.Node) => {
    const text = textOf(node);
    if (!skipped.has(node) && !CODE.some((pattern) => pattern.test(text))) add(node.start, text);
  };
  const visitor = IS_TEST.test(file)
    ? new Visitor({
        CallExpression({ callee, arguments: [title] }) {
          if (title && /^(test|describe)\b/.test(source.slice(callee.start, callee.end))) addString(title);
        },
      })
    : new Visitor({
        TaggedTemplateExpression: ({ quasi }) => void skipped.add(quasi),
        JSXAttribute({ name, value }) {
          if (name.type === 'JSXIdentifier' && CODE_ATTRIBUTES.has(name.name)) skipped.add(value);
        },
        Literal: addString,
        TemplateLiteral: addString,
        JSXText: ({ start, value }) => add(start + value.search(/\S|$/), value.trim()),
      });
  visitor.visit(program);
  return passages;
}

function textOf(node: ESTree.Node): string {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  return node.type === 'TemplateLiteral' ? node.quasis.map(({ value }) => value.cooked).join('…') : '';
}

/** Comments without their markers. Consecutive line comments are one text. */
function joinLines(source: string, comments: ReturnType<typeof parseSync>['comments']) {
  const joined: { start: number; end: number; text: string; isLine: boolean }[] = [];
  for (const { type, value, start, end } of comments) {
    const text = value.replaceAll(/^\s*\*+ ?/gm, '').replace(/^ /, '');
    const last = joined.at(-1);
    if (type === 'Line' && last?.isLine && /^\n[ \t]*$/.test(source.slice(last.end, start))) {
      last.text += `\n${text}`;
      last.end = end;
    } else joined.push({ start, end, text, isLine: type === 'Line' });
  }
  return joined;
}

/** The comments of a Prisma schema; those with three slashes become GraphQL descriptions. */
export function proseOfPrisma(source: string): Passage[] {
  const passages: Passage[] = [];
  let isContinued = false;
  for (const [index, line] of source.split('\n').entries()) {
    const [, code = '', text] = /^(.*?)\/\/\/? ?(.*)$/.exec(line) ?? [];
    const last = passages.at(-1);
    if (text !== undefined && isContinued && last !== undefined) last.text += `\n${text}`;
    else if (text !== undefined) passages.push({ line: index + 1, text });
    isContinued = text !== undefined && code.trim() === '';
  }
  return passages;
}
