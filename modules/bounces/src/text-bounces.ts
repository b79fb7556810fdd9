import type { Email } from '@postroom/mime/parse';
import { replyIn, statusOf } from './detail.ts';
import type { BounceReport } from './bounce.ts';
import { cleanLine } from '@postroom/platform';

/** Maximum length of an explanation: a server's own text is short, and every pattern looks at each of its characters. */
const MAX_EXPLANATION = 64 * 1024;

/** Separates the server's explanation from the returned message. */
const ORIGINAL =
  /^(-{2,} ?(this is a copy of|original message|the (body|header)|below (this line )?is|unsent message|returned message|the following is)|-{3,} ?(begin|message) |---? Below this line)/im;

/** Phrases that identify bounces. */
const FAILURE =
  /undeliver|delivery (status notification \(?failure|failure|failed|problem|error|report|has failed)|returned mail|failure notice|mail (delivery )?(failed|failure|system error)|could not be delivered|unable to deliver|not delivered|unzustellbar|nicht zugestellt|non remis|échec|no se (pudo|puede) entregar|não (pôde|foi) entreg|mancata consegna|message you sent|rejected/i;

const STILL_TRYING =
  /(will|continue to|keep) (be )?(re)?tr(y|ying|ied) (again|for|to deliver|until)|no action is required|has not yet been delivered|delivery attempts will continue|this is a warning message only/i;

/** Parses a plain-text bounce, as written by qmail, Exim and others; undefined if the mail isn't one. */
export function readText(mail: Email): BounceReport | undefined {
  const whole = (mail.text ?? stripTags(mail.html ?? '')).replace(/\r\n?/g, '\n');
  const end = Math.min(ORIGINAL.exec(whole)?.index ?? whole.length, MAX_EXPLANATION);
  // Domino puts the reason in a separate paragraph.
  const explanation = whole.slice(0, end).replace(/\bbecause:\s*\n\s*/i, '');
  if (
    !FAILURE.test(mail.subject ?? '') &&
    !FAILURE.test(explanation.slice(0, 2_000)) &&
    !/qmail-send/.test(explanation)
  )
    return undefined;
  if (STILL_TRYING.test(explanation)) return { kind: 'ignored', why: 'the message is delayed, and still tried' };
  return { kind: 'bounced', detail: detailIn(explanation) };
}

function detailIn(explanation: string): string {
  const reply = replyIn(explanation);
  if (reply !== undefined) return reply;
  const paragraph = reasonIn(explanation);
  const status =
    /[(#\s]([45]\.\d{1,3}\.\d{1,3})\b/.exec(paragraph)?.[1] ?? /#([45]\.\d{1,3}\.\d{1,3})\b/.exec(explanation)?.[1];
  const resolved = status ?? statusOf(paragraph) ?? statusOf(explanation);
  return cleanLine(
    resolved === undefined ? paragraph || 'Bounced without a stated reason' : `${resolved} ${paragraph}`,
  );
}

/** An address at the beginning of a line, with what ends it. */
const LEADING_ADDRESS = /^[ \t]*<?[^\s<>@]+@[^\s<>@]+>?:?/;
/** Maximum length of a reason. */
const MAX_REASON = 1_000;

/** The text below or next to the failed address, or the beginning of the text if no address stands alone. */
function reasonIn(explanation: string): string {
  const lines = explanation.split('\n');
  for (const [index, line] of lines.entries()) {
    const [address] = LEADING_ADDRESS.exec(line) ?? [];
    if (address === undefined) continue;
    const rest = line.slice(address.length);
    const isLabel = address.endsWith(':') || /^(\s{2}|[ \t]:)/.test(rest);
    const below = lines.slice(index + 1, index + 3).find(hasText) ?? '';
    if (!hasText(rest)) return cleanLine(below.slice(0, MAX_REASON));
    if (isLabel) return cleanLine(rest.replace(/^[ \t]*:/, '').slice(0, MAX_REASON));
  }
  return cleanLine(explanation.slice(0, MAX_REASON));
}

const hasText = (line: string) => line.trim() !== '';

const HIDDEN_ELEMENT_ENDS = new Map(['style', 'script'].map((name) => [name, new RegExp(`</${name}`, 'gi')]));

/** Strips tags from HTML, replacing each with a space. */
function stripTags(html: string): string {
  const pieces: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    const close = open === -1 ? -1 : html.indexOf('>', open);
    if (close === -1) break;
    pieces.push(html.slice(at, open), ' ');
    at = close + 1;
    const end = HIDDEN_ELEMENT_ENDS.get(
      html
        .slice(open + 1, open + 7)
        .toLowerCase()
        .match(/^style|^script/)?.[0] ?? '',
    );
    if (end === undefined) continue;
    end.lastIndex = at;
    at = end.exec(html)?.index ?? html.length;
  }
  return [...pieces, html.slice(at)].join('');
}
