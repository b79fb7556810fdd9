import { htmlProblem } from '@postroom/templates/render';
import type { FieldProblem } from '@postroom/platform';
import { Parser } from 'htmlparser2';
import type { CampaignContent } from './content.ts';

/** Gmail cuts off HTML above 102 KB, with the link to unsubscribe; some room is left for what is filled in. */
const CLIPPED_BYTES = 97_000;
/** Services that hide where a link leads; filters count them against the sender. */
const SHORTENERS = /^(bit\.ly|tinyurl\.com|goo\.gl|t\.co|ow\.ly|is\.gd|buff\.ly|rebrand\.ly|cutt\.ly|shorturl\.at)$/i;

/** What about a message's head and words tends to be cut off, or taken for spam. */
export function contentWarnings({ subject, html, fromName, fromEmail, replyTo }: CampaignContent): FieldProblem[] {
  const warn = (when: boolean, field: string, message: string) => (when ? [{ field, message }] : []);
  const head = subject ?? '';
  const body = html ?? '';
  const markup = htmlProblem(body) === undefined ? readMarkup(body) : readMarkup('');
  return [
    ...warn(head.length > 78, 'subject', 'is over 78 characters: most programs will cut it off'),
    ...warn(
      head.length > 10 && /[A-Z]/.test(head) && head === head.toUpperCase(),
      'subject',
      'is all in capitals, which looks like spam',
    ),
    ...warn(/[!?]{2,}|[$€£]{2,}/.test(head), 'subject', 'has repeated marks such as "!!", which look like spam'),
    ...warn(/^\s*(re|fwd?|aw|wg)\s*:/i.test(head), 'subject', 'looks like an answer, which readers take for a trick'),
    ...warn((fromName ?? '').trim() === '', 'fromName', 'is not given: readers see an address instead of a name'),
    ...warn(
      /^(no-?reply|do-?not-?reply)@/i.test(fromEmail ?? '') && replyTo === null,
      'fromEmail',
      'takes no answers: give a reply_to, since answers tell mailbox providers that mail is wanted',
    ),
    ...warn(Buffer.byteLength(body) > CLIPPED_BYTES, 'html', 'is over 95 KB: Gmail cuts it off, and the end is lost'),
    ...warn(markup.imagesWithoutAlt > 0, 'html', 'has images without an alt text'),
    ...warn(markup.images > 0 && markup.words < 20, 'html', 'is little more than images, which looks like spam'),
    ...warn(markup.active > 0, 'html', 'has scripts, forms or frames, which mail programs take out'),
    ...linkWarnings(markup).map((message) => ({ field: 'html', message })),
  ];
}

/** What is looked at in a body. */
interface Markup {
  images: number;
  imagesWithoutAlt: number;
  /** Scripts, forms, frames and the like. */
  active: number;
  /** Words of two letters and more that readers see. */
  words: number;
  links: { link: string; words: string }[];
}

const ACTIVE = new Set(['script', 'form', 'iframe', 'object', 'embed', 'video', 'audio']);
const UNSEEN = new Set(['style', 'script', 'head', 'title']);

/** Reads a body once from end to end. */
function readMarkup(html: string): Markup {
  const markup: Markup = { images: 0, imagesWithoutAlt: 0, active: 0, words: 0, links: [] };
  let unseen = 0;
  let link: { link: string; pieces: string[] } | undefined;
  const endLink = () => {
    if (link !== undefined) markup.links.push({ link: link.link, words: link.pieces.join('').trim() });
    link = undefined;
  };
  const parser = new Parser({
    onopentag: (name, attributes) => {
      if (UNSEEN.has(name)) unseen++;
      if (ACTIVE.has(name)) markup.active++;
      if (name === 'img') {
        markup.images++;
        if (attributes.alt === undefined) markup.imagesWithoutAlt++;
      }
      if (name !== 'a') return;
      endLink();
      if (attributes.href !== undefined) link = { link: attributes.href.trim(), pieces: [] };
    },
    ontext: (text) => {
      if (unseen > 0) return;
      link?.pieces.push(text);
      for (const word of text.split(/\s+/)) if (/\p{L}{2}/u.test(word)) markup.words++;
    },
    onclosetag: (name) => {
      if (UNSEEN.has(name)) unseen--;
      if (name === 'a') endLink();
    },
  });
  parser.end(html);
  return markup;
}

/** What is wrong with links, by their form; nothing is asked of the sites. */
function linkWarnings({ links }: Markup): string[] {
  const found = links.flatMap(({ link, words }) => {
    if (link.includes('{{') || /^(mailto:|tel:|sms:|#.|cid:)/i.test(link)) return [];
    const named = `the link "${link.slice(0, 100)}"`;
    if (!isWebAddress(link)) return [`${named} is not a web address`];
    const { hostname, protocol } = new URL(link);
    const shown = /^(?:https?:\/\/)?(?:www\.)?([a-z0-9-]+(?:\.[a-z0-9-]+)+)(?:\/\S*)?$/i.exec(words)?.[1];
    const isOther = shown !== undefined && !`.${hostname}`.toLowerCase().endsWith(`.${shown.toLowerCase()}`);
    return [
      ...(protocol === 'http:' ? [`${named} is not encrypted: use https`] : []),
      ...(SHORTENERS.test(hostname) ? [`${named} hides where it leads: filters count that against you`] : []),
      ...(isOther ? [`${named} leads to ${hostname} and says "${words.slice(0, 100)}", which looks like fraud`] : []),
    ];
  });
  return [...new Set(found)].slice(0, 10);
}

function isWebAddress(link: string): boolean {
  return /^https?:\/\/[^/\s]+\.[^/\s]+/i.test(link) && URL.canParse(link);
}
