const LOCAL_PART = /^[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const LABEL = /^[\p{L}\p{N}]([\p{L}\p{N}\p{M}-]{0,61}[\p{L}\p{N}\p{M}])?$/u;

/** Whether text looks like an address, including international ones. A heuristic; `checkEmail` decides. */
export function isAddress(text: string): boolean {
  const address = clean(text);
  const at = address.lastIndexOf('@');
  if (at < 1 || at > 64 || address.length > 254 || !LOCAL_PART.test(address.slice(0, at))) return false;
  const labels = address.slice(at + 1).split('.');
  return labels.length > 1 && labels.every((label) => LABEL.test(label));
}

/** Trims all kinds of whitespace, removes invisible characters that come from copying, and composes accents (NFC). */
export const clean = (value: string) =>
  (INVISIBLE.test(value) ? value.replace(EACH_INVISIBLE, '') : value).trim().normalize();

const INVISIBLE = /[\u200B\u2060\uFEFF]/;
const EACH_INVISIBLE = /[\u200B\u2060\uFEFF]/g;
