/** Browsers drop tabs and line breaks from addresses, and read a backslash as a slash. */
// oxlint-disable-next-line no-control-regex
const MISREAD = /[\u0000-\u0020\u007f-\u009f\\]/;

/**
 * Returns the same-origin path to redirect to, as a browser would parse it; undefined for anything that leads, or
 * could lead, elsewhere. Every redirect to an address from a request uses it.
 */
export function safeRedirect(target: unknown, origin: string): string | undefined {
  if (typeof target !== 'string' || !target.startsWith('/') || MISREAD.test(target)) return undefined;
  if (!URL.canParse(target, origin)) return undefined;
  const url = new URL(target, origin);
  if (url.origin !== new URL(origin).origin) return undefined;
  // `/.//evil.test` looks like our path until it is parsed a second time.
  return url.pathname.startsWith('//') ? undefined : url.pathname + url.search + url.hash;
}
