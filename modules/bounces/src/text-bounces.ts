import type { Email } from 'postal-mime';
import { replyIn, statusOf } from './detail.ts';
import type { BounceReport } from './bounce.ts';
import { oneLine } from '@postroom/smtp';

/** Where the words of a server end and the mail that it returns begins. */
const ORIGINAL =
  /^(-{2,} ?(this is a copy of|original message|the (body|header)|below (this line )?is|unsent message|returned message|the following is)|-{3,} ?(begin|message) |---? Below this line)/im;

/** What such mails call themselves. */
const FAILURE =
  /undeliver|delivery (status notification \(?failure|failure|failed|problem|error|report|has failed)|returned mail|failure notice|mail (delivery )?(failed|failure|system error)|could not be delivered|unable to deliver|not delivered|unzustellbar|nicht zugestellt|non remis|échec|no se (pudo|puede) entregar|não (pôde|foi) entreg|mancata consegna|message you sent|rejected/i;

const STILL_TRYING =
  /(will|continue to|keep) (be )?(re)?tr(y|ying|ied) (again|for|to deliver|until)|no action is required|has not yet been delivered|delivery attempts will continue|this is a warning message only/i;

/** A bounce in words alone, as qmail, Exim and many others write it; undefined when it is none. */
export function readText(mail: Email): BounceReport | undefined {
  const whole = (mail.text ?? stripTags(mail.html ?? '')).replace(/\r\n?/g, '\n');
  const end = ORIGINAL.exec(whole)?.index ?? whole.length;
  // Domino writes the reason into a paragraph of its own.
  const words = whole.slice(0, end).replace(/\bbecause:\s*\n\s*/i, '');
  if (!FAILURE.test(mail.subject ?? '') && !FAILURE.test(words.slice(0, 2_000)) && !/qmail-send/.test(words))
    return undefined;
  if (STILL_TRYING.test(words)) return { kind: 'ignored', why: 'the message is delayed, and still tried' };
  return { kind: 'bounced', detail: detailIn(words) };
}

function detailIn(words: string): string {
  const reply = replyIn(words);
  if (reply !== undefined) return reply;
  const paragraph = reasonIn(words);
  const status =
    /[(#\s]([45]\.\d{1,3}\.\d{1,3})\b/.exec(paragraph)?.[1] ?? /#([45]\.\d{1,3}\.\d{1,3})\b/.exec(words)?.[1];
  const known = status ?? statusOf(paragraph) ?? statusOf(words);
  return oneLine(known === undefined ? paragraph || 'It came back and does not say why' : `${known} ${paragraph}`);
}

/** What stands under or beside the address that failed; the whole where no address stands on its own. */
function reasonIn(words: string): string {
  const [, reason] =
    /^[ \t]*<?[^\s<>@]+@[^\s<>@]+>?:?[ \t]*(?:\n|\s{2,}|: ?)([\s\S]{1,1000}?)(?:\n\s*\n|$)/m.exec(words) ?? [];
  return oneLine(reason ?? words.slice(0, 1_000));
}

const UNSEEN_ENDS = new Map(['style', 'script'].map((name) => [name, new RegExp(`</${name}`, 'gi')]));

/** The text of HTML, with a space where a tag was. */
function stripTags(html: string): string {
  const pieces: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    const close = open === -1 ? -1 : html.indexOf('>', open);
    if (close === -1) break;
    pieces.push(html.slice(at, open), ' ');
    at = close + 1;
    const end = UNSEEN_ENDS.get(
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
