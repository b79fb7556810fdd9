/** Browsers drop tabs and line breaks from addresses, and read a backslash as a slash. */
// oxlint-disable-next-line no-control-regex
const MISREAD = /[\u0000-\u0020\u007f-\u009f\\]/;

/**
 * The path of `origin` that somebody is to be sent to, as a browser understands it; undefined for whatever leads elsewhere or could.
 * Every redirect to an address that came with a request goes through it.
 */
export function safeRedirect(target: unknown, origin: string): string | undefined {
  if (typeof target !== 'string' || !target.startsWith('/') || MISREAD.test(target)) return undefined;
  if (!URL.canParse(target, origin)) return undefined;
  const url = new URL(target, origin);
  if (url.origin !== new URL(origin).origin) return undefined;
  // `/.//evil.test` is a path of ours until it is read a second time.
  return url.pathname.startsWith('//') ? undefined : url.pathname + url.search + url.hash;
}
