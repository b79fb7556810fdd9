import { emailKey, emailProblem } from '@postroom/platform';

/** Maximum number of `@` signs inspected; a genuine bounce doesn't contain hundreds of addresses. */
const MAX_AT_SIGNS = 500;
const MAX_LOCAL_PART = 64;
const MAX_HOST = 253;

/** Characters that delimit addresses in notifications and never occur in addresses we send to. */
const DELIMITER = /[\s<>()[\]",:;\\\p{Cc}]/u;

/**
 * All addresses in a bounce: in its recipient fields, its report or the headers it quotes. They are unverified, so the caller
 * must prove which one the message was sent to.
 */
export function namedAddresses(text: string): string[] {
  const found = new Set<string>();
  let at = -1;
  for (let atSigns = 0; atSigns < MAX_AT_SIGNS; atSigns++) {
    at = text.indexOf('@', at + 1);
    if (at === -1) break;
    let [start, end] = [at, at + 1];
    while (start > 0 && at - start < MAX_LOCAL_PART && !DELIMITER.test(text.charAt(start - 1))) start--;
    while (end < text.length && end - at <= MAX_HOST && !DELIMITER.test(text.charAt(end))) end++;
    const word = text.slice(start, end);
    // Strip surrounding quotes and punctuation; in Original-Recipient, `+2B` is a plus (RFC 3461 xtext).
    const bare = word.replace(/^['`]+|['`.!?]+$/g, '');
    const decoded = bare.replace(/\+([0-9A-F]{2})/g, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
    for (const each of [bare, decoded]) if (emailProblem(each) === undefined) found.add(emailKey(each));
  }
  return [...found];
}
