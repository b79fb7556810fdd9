const BODY_END = /<\/body\s*>/gi;

/** Adds HTML right before the end of the body, or at the end of a document without a closing body tag. */
export function addToBody(html: string, addition: string): string {
  let end = html.length;
  for (const { index } of html.matchAll(BODY_END)) end = index;
  return html.slice(0, end) + addition + html.slice(end);
}
