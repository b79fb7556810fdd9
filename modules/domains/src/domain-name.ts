/** Leaves room for the labels we prepend: a selector and `_domainkey`. */
export const MAX_DOMAIN_LENGTH = 253 - 'pr00000000._domainkey.'.length;
const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/;

/** The problem with a normalized name as a sending domain; `undefined` if there is none. */
export function domainProblem(domain: string): string | undefined {
  const labels = domain.split('.');
  const isHostName = labels.length >= 2 && labels.every((label) => LABEL.test(label));
  if (!isHostName || /^\d+$/.test(labels.at(-1) ?? '')) return 'must be a domain name such as mail.example.com';
  if (domain.length > MAX_DOMAIN_LENGTH) return `must be at most ${MAX_DOMAIN_LENGTH} characters`;
  return undefined;
}

/** The problem with a MAIL FROM label; `undefined` if there is none. */
export function labelProblem(label: string): string | undefined {
  return LABEL.test(label) ? undefined : 'must be one label of a hostname such as bounce';
}
