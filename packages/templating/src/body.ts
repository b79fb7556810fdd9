const BODY_END = /<\/body\s*>/gi;

/** Adds HTML right before the end of the body, or at the end of a document without a closing body tag. */
export function addToBody(html: string, addition: string): string {
  let end = html.length;
  for (const { index } of html.matchAll(BODY_END)) end = index;
  return html.slice(0, end) + addition + html.slice(end);
}

const BODY_TAG = /<body\b(?:"[^"]*"|'[^']*'|[^"'>])*>/iy;
const HEAD_END = /<\/head\s*>/i;

/** Adds HTML as the first of the body: after its opening tag, or else after the head, or at the start of a fragment. */
export function addToBodyStart(html: string, addition: string): string {
  BODY_TAG.lastIndex = Math.max(0, html.search(/<body\b/i));
  const before = BODY_TAG.exec(html) ?? HEAD_END.exec(html);
  const start = before === null ? 0 : before.index + before[0].length;
  return html.slice(0, start) + addition + html.slice(start);
}
