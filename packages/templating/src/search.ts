/** Up to this length the engine's own search is linear: longer parts can make it compare most of the part at each place. */
const MAX_SHORT = 250;

/** Where `part` is in a text from an offset on, or -1, in time linear in both (Knuth, Morris and Pratt for long parts). */
function indexOf(text: string, part: string, from: number, borders: () => Int32Array): number {
  if (part.length <= MAX_SHORT) return text.indexOf(part, from);
  const table = borders();
  let matched = 0;
  for (let at = from; at < text.length; at++) {
    const character = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== character) matched = table[matched - 1]!;
    if (part.charCodeAt(matched) === character) matched++;
    if (matched === part.length) return at - matched + 1;
  }
  return -1;
}

/** For each prefix of a part, the length of its longest end that is also its start. */
function bordersOf(part: string): Int32Array {
  const table = new Int32Array(part.length);
  let length = 0;
  for (let at = 1; at < part.length; at++) {
    while (length > 0 && part.charCodeAt(length) !== part.charCodeAt(at)) length = table[length - 1]!;
    if (part.charCodeAt(length) === part.charCodeAt(at)) length++;
    table[at] = length;
  }
  return table;
}

export const includes = (text: string, part: string): boolean => indexOf(text, part, 0, () => bordersOf(part)) >= 0;

/** Like `text.split(part, most)`. */
export function splitBy(text: string, part: string, most = 2 ** 32 - 1): string[] {
  if (part.length <= MAX_SHORT) return text.split(part, most);
  const table = bordersOf(part);
  const pieces: string[] = [];
  let from = 0;
  while (pieces.length < most) {
    const at = indexOf(text, part, from, () => table);
    pieces.push(at < 0 ? text.slice(from) : text.slice(from, at));
    if (at < 0) break;
    from = at + part.length;
  }
  return pieces;
}
