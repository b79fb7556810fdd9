const BODY_END = /<\/body\s*>/gi;

/** Adds HTML right before the end of the body, or at the end of a document without a closing body tag. */
export function addToBody(html: string, addition: string): string {
  let end = html.length;
  for (const { index } of blankComments(html).matchAll(BODY_END)) end = index;
  return html.slice(0, end) + addition + html.slice(end);
}

const BODY_TAG = /<body\b(?:"[^"]*"|'[^']*'|[^"'>])*>/iy;
const HEAD_END = /<\/head\s*>/i;
/** Ends a condition whose content most mail programs show, as each of its tags is a complete comment. */
const SHOWN_END = /\s*<!--<!\[endif\]-->/y;

/**
 * Adds HTML as the first of the body: after its opening tag, or else after the head, or at the start of a fragment. A body tag for
 * Outlook alone, in a conditional comment, is not the one.
 */
export function addToBodyStart(html: string, addition: string): string {
  const shown = blankComments(html);
  BODY_TAG.lastIndex = Math.max(0, shown.search(/<body\b/i));
  const before = BODY_TAG.exec(shown) ?? HEAD_END.exec(shown);
  const end = before === null ? 0 : before.index + before[0].length;
  SHOWN_END.lastIndex = end;
  const start = SHOWN_END.test(html) ? SHOWN_END.lastIndex : end;
  return html.slice(0, start) + addition + html.slice(start);
}

/** Replaces comments with as many spaces, including conditional ones, whose content only Outlook shows. */
export const blankComments = (html: string): string =>
  html.replace(/<!(?=--)[\s\S]*?(?:--!?>|$)/g, (comment) => ' '.repeat(comment.length));
