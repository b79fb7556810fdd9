import { domainToASCII } from 'node:url';

const LOCAL_PART = /^[^\s"(),:;<>@[\\\]\p{Cc}]{1,64}$/u;
/** What nearly all hosts are: letters of ASCII. Others are first written in them, which takes longer than the rest of the check. */
const PLAIN_HOST = /^(?:(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/i;
const SPACE = /[\s\p{Cc}]/u;
const HOST_LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/;

/**
 * What is wrong with an email address; `undefined` when nothing is. It takes what mail servers take in practice: a dot
 * atom before the `@` (international characters included), a host name with a dot after it. No quotes, no comments.
 */
export function emailProblem(address: string): string | undefined {
  if (address === '') return 'must not be empty';
  if (address.length > 254) return 'must be at most 254 characters';
  const at = address.lastIndexOf('@');
  if (at < 1) return 'must be an email address such as ada@example.com';
  const local = address.slice(0, at);
  if (!LOCAL_PART.test(local) || local.startsWith('.') || local.endsWith('.') || local.includes('..')) {
    return 'has characters before the @ that an email address can not have';
  }
  const given = address.slice(at + 1);
  if (given.length <= 253 && PLAIN_HOST.test(given)) return undefined;
  // Line breaks and tabs would be passed over there, and stay in the address.
  const host = SPACE.test(given) ? '' : domainToASCII(given).toLowerCase();
  const labels = host.split('.');
  const validHost = host.length <= 253 && labels.length >= 2 && labels.every((label) => HOST_LABEL.test(label));
  if (!validHost || /^\d+$/.test(labels.at(-1) ?? '')) return 'must have a domain such as example.com after the @';
  return undefined;
}

/** The form that makes an address unique in a project: without surrounding space, in lower case. */
export function emailKey(address: string): string {
  return address.trim().toLowerCase();
}
