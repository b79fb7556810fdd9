import { normalizeDomain } from '@postroom/platform';

export { normalizeDomain };

/** Room for the labels that we put before a domain: a selector and `_domainkey`. */
const MAX_LENGTH = 253 - 'pr00000000._domainkey.'.length;
const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/;

/** What is wrong with a normalised domain as one to send from; `undefined` when nothing is. */
export function domainProblem(domain: string): string | undefined {
  const labels = domain.split('.');
  const isHostName = labels.length >= 2 && labels.every((label) => LABEL.test(label));
  if (!isHostName || /^\d+$/.test(labels.at(-1) ?? '')) return 'must be a domain name such as mail.example.com';
  if (domain.length > MAX_LENGTH) return `must be at most ${MAX_LENGTH} characters`;
  return undefined;
}

/** What is wrong with the label of a MAIL FROM subdomain; `undefined` when nothing is. */
export function labelProblem(label: string): string | undefined {
  return LABEL.test(label) ? undefined : 'must be one label of a host name such as bounce';
}
