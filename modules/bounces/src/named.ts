import { emailKey, emailProblem } from '@postroom/platform';

/** Signs in a text that are looked at: a mail that is full of addresses is none that a server returns. */
const MAX_SIGNS = 500;
const MAX_LOCAL_PART = 64;
const MAX_HOST = 253;

/** What no address that we send to holds, and notifications write around one. */
const OUTSIDE = /[\s<>()[\]",:;\\\p{Cc}]/u;

/**
 * The addresses that a returned mail names, whoever wrote it: as its recipient, in the fields of its report or in the headers that
 * it quotes. Which of them the message went to has to be proved by something else.
 */
export function namedAddresses(text: string): string[] {
  const found = new Set<string>();
  let at = -1;
  for (let signs = 0; signs < MAX_SIGNS; signs++) {
    at = text.indexOf('@', at + 1);
    if (at === -1) break;
    let [start, end] = [at, at + 1];
    while (start > 0 && at - start < MAX_LOCAL_PART && !OUTSIDE.test(text.charAt(start - 1))) start--;
    while (end < text.length && end - at <= MAX_HOST && !OUTSIDE.test(text.charAt(end))) end++;
    const word = text.slice(start, end);
    // Quotes and full stops of the sentence around it; `+2B` is a plus in Original-Recipient (RFC 3461: xtext).
    const bare = word.replace(/^['`]+|['`.!?]+$/g, '');
    const plain = bare.replace(/\+([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
    for (const each of [bare, plain]) if (emailProblem(each) === undefined) found.add(emailKey(each));
  }
  return [...found];
}
