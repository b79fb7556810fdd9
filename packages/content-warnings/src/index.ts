import { htmlProblem, isAlwaysBlank, parseTemplate, RenderError, renderSubject } from '@postroom/templating';
import type { FieldProblem } from '@postroom/errors';
import { Parser } from 'htmlparser2';

/** Gmail clips HTML above 102 KB, and with it the unsubscribe link. The limit leaves room for rendered values. */
const CLIPPED_BYTES = 97_000;
/** URL shorteners: spam filters penalize them because they hide the destination. */
const SHORTENERS = /^(bit\.ly|tinyurl\.com|goo\.gl|t\.co|ow\.ly|is\.gd|buff\.ly|rebrand\.ly|cutt\.ly|shorturl\.at)$/i;

/** The parts of a mail that are looked at; null for one that is missing. */
interface MailContent {
  subject: string | null;
  previewText: string | null;
  html: string | null;
  fromName: string | null;
  fromEmail: string | null;
  replyTo: string | null;
}

/** Warnings about headers and content that mail programs clip or spam filters penalize. */
export function contentWarnings({
  subject,
  previewText,
  html,
  fromName,
  fromEmail,
  replyTo,
}: MailContent): FieldProblem[] {
  const warn = (when: boolean, field: string, message: string) => (when ? [{ field, message }] : []);
  const head = subject ?? '';
  const body = html ?? '';
  const markup = htmlProblem(body) === undefined ? readMarkup(body) : readMarkup('');
  return [
    ...warn(
      isBlankWithoutValues(head),
      'subject',
      'is empty for recipients without values for its placeholders, who get no message: add a default or other text',
    ),
    ...warn(head.length > 78, 'subject', 'is over 78 characters: most mail programs truncate it'),
    ...warn(
      head.length > 10 && /[A-Z]/.test(head) && head === head.toUpperCase(),
      'subject',
      'is all capitals, which looks like spam',
    ),
    ...warn(/[!?]{2,}|[$€£]{2,}/.test(head), 'subject', 'has repeated punctuation such as "!!", which looks like spam'),
    ...warn(/^\s*(re|fwd?|aw|wg)\s*:/i.test(head), 'subject', 'looks like a reply, which readers find deceptive'),
    ...warn(
      body !== '' && previewText === null && !markup.hasPreview,
      'previewText',
      'is missing: after the subject, mail programs show the beginning of the content',
    ),
    ...warn((fromName ?? '').trim() === '', 'fromName', 'is missing: readers see an address instead of a name'),
    ...warn(
      /^(no-?reply|do-?not-?reply)@/i.test(fromEmail ?? '') && replyTo === null,
      'fromEmail',
      'does not accept replies: set a reply-to address, because replies show mailbox providers that your mail is wanted',
    ),
    ...warn(Buffer.byteLength(body) > CLIPPED_BYTES, 'html', 'is over 95 KB: Gmail clips it'),
    ...warn(markup.starter !== undefined, 'html', `still says "${markup.starter}"`),
    ...warn(markup.imagesWithoutAlt > 0, 'html', 'has images without alt text'),
    ...warn(markup.images > 0 && markup.words < 20, 'html', 'is mostly images, which looks like spam'),
    ...warn(markup.active > 0, 'html', 'has scripts, forms or frames, which mail programs remove'),
    ...linkWarnings(markup).map((message) => ({ field: 'html', message })),
  ];
}

/** What is wrong with the subject of a campaign; undefined if it can be sent. */
export function subjectProblem(subject: string): string | undefined {
  if (subject.trim() === '') return 'is required';
  const isBlank = isAlwaysBlank(parseTemplate(subject, 'subject'));
  return isBlank ? 'shows nothing, whatever the values of its placeholders' : undefined;
}

/** Whether a subject with placeholders shows nothing to a recipient of whom only the address is known. */
export function isBlankWithoutValues(subject: string): boolean {
  const template = parseTemplate(subject, 'subject');
  if (template.problems.length > 0 || template.slots.length === 0) return false;
  try {
    return renderSubject(template, { email: 'someone@example.com' }).trim() === '';
  } catch (error) {
    if (error instanceof RenderError) return false;
    throw error;
  }
}

/** What the warnings need to know about an HTML body. */
interface Markup {
  images: number;
  imagesWithoutAlt: number;
  /** Scripts, forms, frames and the like. */
  active: number;
  /** Visible words of at least two letters. */
  words: number;
  /** Whether hidden text comes first, which mail programs show as the preview. */
  hasPreview: boolean;
  /** Text of a starter that was left in. */
  starter: string | undefined;
  links: { link: string; words: string }[];
}

const ACTIVE = new Set(['script', 'form', 'iframe', 'object', 'embed', 'video', 'audio']);
const HIDDEN = /display\s*:\s*none/i;
/** The sentence to replace in the starter of the dashboard, and filler of other ones. */
const STARTER = /Write your message here|lorem ipsum( dolor)?/i;
/** Domains reserved for documentation, which belong to nobody (RFC 2606, RFC 6761). */
const EXAMPLE_HOST = /(^|\.)(example\.(com|org|net|edu)|example|test|invalid|localhost)$/i;
const UNSEEN = new Set(['style', 'script', 'head', 'title']);

/** Collects the facts about a body in one pass. */
function readMarkup(html: string): Markup {
  const markup: Markup = {
    images: 0,
    imagesWithoutAlt: 0,
    active: 0,
    words: 0,
    hasPreview: false,
    starter: undefined,
    links: [],
  };
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
      if (markup.words === 0 && HIDDEN.test(attributes.style ?? '')) markup.hasPreview = true;
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
      markup.starter ??= STARTER.exec(text)?.[0];
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

/** Problems visible in the links themselves; no request is made to any site. */
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
      ...(EXAMPLE_HOST.test(hostname) ? [`${named} leads to an example domain: replace it with your own`] : []),
      ...(SHORTENERS.test(hostname) ? [`${named} hides its destination: spam filters penalize that`] : []),
      ...(isOther
        ? [`${named} leads to ${hostname} but reads "${words.slice(0, 100)}", which looks like phishing`]
        : []),
    ];
  });
  return [...new Set(found)].slice(0, 10);
}

function isWebAddress(link: string): boolean {
  return /^https?:\/\/[^/\s]+\.[^/\s]+/i.test(link) && URL.canParse(link);
}
