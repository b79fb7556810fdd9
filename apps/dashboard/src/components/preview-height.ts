/** The height of a long email's preview, in pixels; the rest scrolls. */
export const MAX_PREVIEW_HEIGHT = 560;
const MIN_PREVIEW_HEIGHT = 160;
const LINE_HEIGHT = 28;
/** In characters; a longer email fills the frame. */
const SHORT_HTML = 20_000;
const CHARACTERS_PER_LINE = 80;
/** An image is about as high as this many lines. */
const LINES_PER_IMAGE = 8;

/**
 * Estimates how high a preview must be, in pixels, so that a short email does not stand in an empty frame. The frame has an
 * opaque origin, so nothing can measure its content.
 */
export function previewHeight(html: string): number {
  if (html.length > SHORT_HTML) return MAX_PREVIEW_HEIGHT;
  const body = html.replace(/<(style|head|script)\b[^]*?<\/\1\s*>/gi, '');
  const text = body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
  const breaks = body.match(/<(?:p|div|h[1-6]|tr|li|br|hr|blockquote)\b/gi)?.length ?? 0;
  const images = body.match(/<img\b/gi)?.length ?? 0;
  const lines = 2 + breaks + text.length / CHARACTERS_PER_LINE + images * LINES_PER_IMAGE;
  return Math.round(Math.min(MAX_PREVIEW_HEIGHT, Math.max(MIN_PREVIEW_HEIGHT, lines * LINE_HEIGHT)));
}
