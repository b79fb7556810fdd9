// Every parser of external text: from API clients, authors of mail, mail servers, uploaded files and mail clients.
import { BlockList } from 'node:net';
import { coerce, dayFromDateTime, type FieldSchema } from '../../packages/custom-fields/src/index.ts';
import { readFilter } from '../../modules/segment-filters/src/segment-filter.ts';
import { contentWarnings } from '../../packages/content-warnings/src/index.ts';
import { checkProperties, typeOf } from '../../modules/custom-events/src/properties.ts';
import { graphProblems, matches, parseDefinition, withDefaults } from '@postroom/journey-definition';
import { clientAddress } from '../../packages/network/src/client-address.ts';
import { parseProxyHeader } from '../../packages/network/src/proxy-protocol.ts';
import { templatesOf } from '../../modules/campaigns/src/content.ts';
import { relaxedBody, relaxedField, splitMessage } from '../../modules/domains/src/dkim/canonical.ts';
import { spfProblem } from '../../modules/domains/src/inspect/spf.ts';
import { unquoteText } from '../../modules/domains/src/publish/txt.ts';
import { Problems, readEmail } from '../../modules/emails/src/email-input.ts';
import { formatMailbox, parseMailbox } from '../../modules/emails/src/mailbox.ts';
import { wireAddress } from '../../packages/mime/src/address.ts';
import { buildMessage } from '../../packages/mime/src/build.ts';
import { compileMessage } from '../../packages/mime/src/compile.ts';
import { customHeader, mailboxHeader, textHeader } from '../../packages/mime/src/headers.ts';
import { encodeLastPiece, encodePiece } from '../../packages/mime/src/quoted-printable.ts';
import { parseMime } from '../../modules/bounces/src/parse-mime.ts';
import { findReturnAddress } from '../../modules/bounces/src/return-address.ts';
import { detailOf, replyIn, statusOf } from '../../modules/bounces/src/detail.ts';
import { namedAddresses } from '../../modules/bounces/src/named.ts';
import { interpret } from '../../modules/bounces/src/parse-bounce.ts';
import { fieldGroups } from '../../modules/bounces/src/bounce.ts';
import { classify } from '../../packages/smtp/src/classify.ts';
import { prepare } from '../../packages/smtp/src/envelope.ts';
import { outcomeOf } from '../../packages/smtp/src/outcome.ts';
import { ResponseParser } from '../../packages/guarded-client/src/response-parser.ts';
import { ReplyReader } from '../../packages/smtp/src/replies.ts';
import { anonymizedNetwork } from '../../packages/network/src/client-address.ts';
import { ADDRESSES } from '../../modules/contacts/src/suppressions.ts';
import { findLinks } from '../../modules/tracking/src/find-links.ts';
import { botReason } from '../../modules/tracking/src/bots.ts';
import { targetOf, trackHtml } from '../../modules/tracking/src/track-html.ts';
import { addUtm } from '../../modules/tracking/src/utm.ts';
import { isPageToken, readConfirmToken } from '../../modules/forms/src/token.ts';
import { readTrackingToken, unsealValues } from '../../modules/tracking/src/token.ts';
import { findRecipient, readToken } from '../../modules/unsubscribe/src/unsubscribe-link.ts';
import { textOfHtml, fillContent } from '../../modules/emails/src/fill-content.ts';
import { csvLine, guard, unguard } from '../../packages/csv/src/write.ts';
import { clean, isAddress } from '../../packages/csv/src/address.ts';
import { dialectOf, findEmailColumn, headerOf } from '../../packages/csv/src/dialect.ts';
import { EncodingDetector } from '../../packages/csv/src/encoding.ts';
import { keyFor, labelFor, TypeGuess } from '../../packages/csv/src/fields.ts';
import { RecordReader } from '../../packages/csv/src/records.ts';
import { emailKey, emailProblem, jsonProblem, parseDateTime } from '../../modules/platform/src/index.ts';
import { structuralProblems } from '../../modules/templates/src/mjml.ts';
import {
  addToBody,
  addToBodyStart,
  decodeEntities,
  htmlProblem,
  missing,
  parseTemplate,
  renderTemplate,
  type TemplateFormat,
  variablesOf,
} from '../../packages/templating/src/index.ts';
import { previewHtml } from '../../apps/gateway/src/preview-html.ts';
import { parseBody } from '../../apps/gateway/src/rest/request.ts';
import { pathsToFetch } from '../../apps/inbox/src/readers.ts';
import { summarize } from '../../apps/inbox/src/headers.ts';
import { renderFrame } from '../../apps/inbox/src/render.ts';
import { parseSubmitted } from '../../apps/submission/src/mail-parser.ts';
import { requestOf } from '../../apps/submission/src/message.ts';

export interface OutsideParser {
  name: string;
  parse: (text: string) => unknown;
  /** Tokens of its syntax. */
  tokens: readonly string[];
  /** Inputs that were once too slow. */
  known?: readonly ((length: number) => string)[];
  /** Set where it is linear only for inputs longer than its nesting limits. */
  shortest?: number;
}

const repeat = (unit: string, length: number) => unit.repeat(Math.ceil(length / unit.length));
const list = (length: number, item: (index: number) => string) =>
  Array.from({ length: Math.ceil(length / item(0).length) }, (_, index) => item(index)).join(',');
const definitionOf = (length: number, step: (index: number) => string) =>
  `{"entry":{"type":"manual"},"steps":[${list(length, step)}]}`;
const LOOPBACK = new BlockList();
LOOPBACK.addAddress('127.0.0.1');

const HTML = ['<div>', '</div>', '<a href="', '"', "'", '<!--', '-->', '<style>', '</style', '&amp;', ' ', '<'];
const TAGS = ['<body>', '</body', '<a ', '<img ', '<br>', '<![if', '=x', '>', '\n', 'a'];
const PLACEHOLDERS = ['{{', '}}', '{{a}}', '{{a|', '{{\n', '{', '|', '"', '<a href="', '<a href="x', '&amp;', ':'];
const MARKUP = [
  '<blockquote>a',
  '<ul><li>',
  '<table><tr><td>',
  '<p>',
  '<pre>',
  '</p>',
  '<a href=x>',
  '<br>',
  '&nbsp;',
  ' a',
];
const MAIL = ['@', 'a', '.', ' ', '"', '<', '>', ',', '\\', '(', '\u00fc', '-'];
const HEADER = ['a', ' ', '\r\n', '\t', '=?', '?=', '=?utf-8?Q?a', '\u00fc', '\u{1f600}', '.', '"', ';'];
const WORDS = ['550 ', '5.1.1 ', 'user ', 'unknown', '\n', ' ', '-', ': ', '4', '.', '#', 'a@b.example '];
const MIME = [
  '--b\r\n',
  '--b--\r\n',
  '\r\n',
  'Content-Type: multipart/mixed; boundary=b\r\n\r\n',
  'Content-Type: text/html\r\n\r\n',
  'Subject: a\r\n',
  ' a\r\n',
  'To: a@b.example, ',
  '=?utf-8?B?YQ==?= ',
  '=\r\n',
  'a',
  ' ',
];
const TEMPLATE_TAGS = [
  '{% if a %}',
  '{% elsif b.c == "x" %}',
  '{% else %}',
  '{% endif %}',
  '{% for b in a %}',
  '{% endfor %}',
  '{%- assign c = a | upcase -%}',
  '{% case a %}',
  '{% when 1, 2 %}',
  '{% endcase %}',
  '{% raw %}',
  '{% endraw %}',
  '{% comment %}',
  '{% endcomment %}',
  '{{ a | default: b }}',
  '{%',
  '%}',
  '<a href="',
  '">',
  ' ',
];
const CSV = ['"', '""', ',', '\n', '\r', ' ', 'a', 'a@b.example,x\n', '"a"', '\0', '\ufffd', ';'];
const NUMBERS = ['0', '1', '.', '-', 'e', '2026-11-21', 'T', ':', ' ', 'Z', '+', '_'];
const JSON_TEXT = ['[', ']', '{"a":', '}', '"', '\\', ',', '1', ' ', '"a"', '{"and":[', '{"not":'];

const mail = (type: string) => (text: string) =>
  Buffer.from(`From: a@example.com\r\nTo: b@example.com\r\nSubject: x\r\nContent-Type: ${type}\r\n\r\n${text}`);
const asTemplate = (format: TemplateFormat) => (text: string) => {
  const template = parseTemplate(text, format);
  missing(template, {});
  return renderTemplate(template, { a: 'https://example.com/ü "x"' }, 5_000_000);
};
const valued = (source: string) => {
  const template = parseTemplate(source, 'html');
  return (text: string) => renderTemplate(template, { a: text });
};
const SEARCHES = parseTemplate(
  '{{ a | split: b | size }}{{ a | replace: b, "x" | size }}{{ a | remove: b | size }}{% if a contains b %}x{% endif %}',
  'text',
);
const email = { from: 'a@example.com', to: ['b@example.com'], subject: 'x', text: 'x' };
const input = {
  messageId: 'eml_1@example.com',
  date: new Date(0),
  from: { email: 'a@example.com' },
  to: [{ email: 'b@example.com' }],
  subject: 'x',
  text: 'x',
};
const campaign = {
  projectId: 'prj_x',
  fromName: null,
  fromEmail: 'a@example.com',
  replyTo: null,
  subject: 'x',
  text: null,
  previewText: 'x',
  utmSource: null,
  utmMedium: null,
  utmCampaign: null,
  utmTerm: null,
  utmContent: null,
  postalAddress: 'x',
};
const literal = (text: string) => ({
  format: 'html' as const,
  source: text,
  statics: [text],
  slots: [],
  problems: [],
});
const field = (type: FieldSchema['type']): FieldSchema =>
  ({ key: 'a', label: 'a', type, options: ['x'] }) as FieldSchema;
const json = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

async function submitted(raw: Buffer) {
  return requestOf(await parseSubmitted(raw), ['b@example.com']);
}

async function returned(raw: Buffer) {
  return interpret(await parseMime(raw, { maxNestingDepth: 20, forceRfc822Attachments: true }));
}

function readCsv(text: string, isRow?: (values: string[]) => boolean): void {
  const reader = new RecordReader(',');
  if (isRow !== undefined) reader.expectRows(isRow);
  for (let at = 0; at < text.length; at += 65_536) for (const _ of reader.push(text.slice(at, at + 65_536)));
  for (const _ of reader.end());
}

export const PARSERS: readonly OutsideParser[] = [
  {
    name: 'templates of HTML',
    parse: asTemplate('html'),
    tokens: [...PLACEHOLDERS, ...HTML.slice(5, 9)],
    known: [
      (length) => repeat('{{\n', length),
      (length) => `<a href="x?&amp;${repeat('&amp;{{a}}', length)}">`,
      (length) => `<a href="${repeat('x{{a}}', length)}">`,
      (length) => `<p title="${repeat('&amp;{{a}}', length)}">`,
      (length) => repeat('<style>a</style>', length),
      (length) => repeat('<a x y ', length),
    ],
  },
  { name: 'markup of templates', parse: asTemplate('html'), tokens: [...HTML, '{{a}}'] },
  {
    name: 'templates of text',
    parse: asTemplate('text'),
    tokens: PLACEHOLDERS,
    known: [(length) => repeat('{{\n', length)],
  },
  {
    name: 'tags of templates',
    parse: (text) => variablesOf(parseTemplate(text, 'html')),
    tokens: TEMPLATE_TAGS,
    known: [
      (length) => repeat('{% if a %}', length),
      (length) => repeat('{% ', length),
      (length) => repeat('{% if a %}{% endif %}', length),
      (length) => `{% if a %}${repeat('<a href="{% if a %}{{a}}{% endif %}">{% elsif b %}', length)}{% endif %}`,
      (length) => `<a href="${repeat('{% if a %}x{% else %}y{% endif %}', length)}">`,
      (length) => `<a href="${'x'.repeat(length / 2)}{% if a %}${repeat(':{% elsif a %}', length / 2)}{% endif %}">`,
      (length) => `{% if a ${repeat(' or a', length)} %}{% endif %}`,
      (length) => `{{ a${repeat(' | upcase', length)} }}`,
      (length) => repeat(' {%- comment -%} {%- endcomment -%} ', length),
      (length) => repeat('{% raw %}', length),
    ],
  },
  { name: 'templates of subjects', parse: asTemplate('subject'), tokens: PLACEHOLDERS },
  {
    name: 'searches of filters and conditions',
    parse: (text) => renderTemplate(SEARCHES, { a: text, b: text.slice(text.length / 4, text.length / 2) }),
    tokens: ['a', 'b', 'aaaa', 'abab'],
    known: [
      (length) => `${'a'.repeat(length * 0.375)}b${'a'.repeat(length * 0.625)}`,
      (length) => `${'a'.repeat(length / 4 + 1)}b${'a'.repeat(length * 0.75)}`,
    ],
  },
  { name: 'values in HTML', parse: valued('<p title="{{a}}">{{a}}</p>'), tokens: HTML },
  {
    name: 'values in links',
    parse: valued('<a href="{{a}}">'),
    tokens: ['a', ' ', '\u00a0', ':', '/', '%', '\u00fc', '\n', "'"],
  },
  { name: 'values in parts of links', parse: valued('<a href="https://x.example/{{a}}?{{a}}#{{a}}">'), tokens: MAIL },
  { name: 'values in styles', parse: valued('<p style="{{a}}">'), tokens: HTML },
  { name: 'entities', parse: decodeEntities, tokens: ['&', '#', 'x', '1', 'amp', ';', 'a', ' ', '&#', '&#x'] },
  { name: 'limits of HTML', parse: htmlProblem, tokens: HTML },
  { name: 'limits of HTML, by tags', parse: htmlProblem, tokens: TAGS },
  {
    name: 'the end of a body',
    parse: (text) => addToBody(text, 'x'),
    tokens: ['</body', '</body>', ' ', '<', '>', 'a'],
  },
  {
    name: 'the start of a body',
    parse: (text) => addToBodyStart(text, 'x'),
    tokens: ['<body', ' a="', "'", '</head', '>', ' ', 'a'],
  },
  {
    name: 'the footer of a campaign',
    parse: (html) => templatesOf({ ...campaign, html }),
    tokens: ['</body', '>', ' ', '{{', 'a'],
  },
  { name: 'links', parse: findLinks, tokens: HTML },
  { name: 'links, by tags', parse: findLinks, tokens: TAGS },
  {
    name: 'tracking',
    parse: (text) => trackHtml(parseTemplate(text, 'html'), { opens: true, clicks: true }, 'https://t.example'),
    tokens: [...HTML.slice(0, 6), '<a href="https://x.example/', '{{a}}', '</body', '>', ' '],
    known: [(length) => repeat('</body ', length), (length) => repeat('</body>', length)],
  },
  {
    name: 'UTM parameters',
    parse: (text) => addUtm(parseTemplate(text, 'html'), { utm_source: 'x' }),
    tokens: [...HTML.slice(0, 6), '<a href="https://x.example/', '{{a}}', '?', '&amp;', '&#35;', '#', '"', '>', ' '],
  },
  {
    name: 'text of HTML',
    parse: (text) => textOfHtml(literal(text)),
    tokens: MARKUP,
    shortest: 16_384,
    known: [(length) => repeat('<blockquote>a', length), (length) => repeat('<div>', length)],
  },
  {
    name: 'words of an email',
    parse: (html) => fillContent({ subject: 'x', html, text: null, values: { a: 'b' } }),
    tokens: PLACEHOLDERS,
    shortest: 16_384,
  },
  {
    name: 'MJML',
    parse: structuralProblems,
    tokens: ['<mj-text>', '</mj-text>', '<mj-a ', '<!--', '-->', '"', "'", '<mjml', '>', '/', '-', 'a'],
  },
  { name: 'warnings about content', parse: (html) => contentWarnings({ ...campaign, html }), tokens: HTML },
  {
    name: 'warnings about content, by tags',
    parse: (html) => contentWarnings({ ...campaign, html }),
    tokens: [...TAGS, '<a href="x">', 'www.'],
  },
  {
    name: 'warnings about subjects',
    parse: (subject) => contentWarnings({ ...campaign, html: '', subject }),
    tokens: HEADER,
  },
  {
    name: 'previews',
    parse: (text) => previewHtml(text, { a: 'b' }),
    tokens: [...HTML.slice(0, 6), '<head', '>', '{{a}}', '{{'],
  },
  { name: 'mailboxes', parse: parseMailbox, tokens: MAIL },
  { name: 'names of mailboxes', parse: (name) => formatMailbox({ email: 'a@example.com', name }), tokens: MAIL },
  {
    name: 'addresses',
    parse: (text) => [emailProblem(text), emailProblem(`a@${text}`), emailKey(text), isAddress(text), clean(text)],
    tokens: MAIL,
  },
  { name: 'addresses in a text', parse: (text) => text.match(ADDRESSES), tokens: MAIL },
  { name: 'addresses on the wire', parse: (text) => wireAddress(text, 'to'), tokens: MAIL },
  {
    name: 'emails of requests',
    parse: (text) =>
      readEmail(
        {
          ...email,
          from: text,
          headers: { 'X-A': text, [text]: 'x' },
          tags: [text],
          metadata: { a: text },
          attachments: [{ filename: text, content: text, contentType: text, contentId: text }],
        },
        new Problems(),
      ),
    tokens: [...HEADER, 'text/a; a="', '='],
  },
  { name: 'headers', parse: (text) => textHeader('Subject', text), tokens: HEADER },
  { name: 'headers of callers', parse: (text) => customHeader('X-A', text), tokens: HEADER },
  {
    name: 'names in headers',
    parse: (name) => mailboxHeader('To', [{ email: 'a@example.com', name }], 'to'),
    tokens: [...HEADER, '\\'],
  },
  {
    name: 'quoted-printable',
    parse: (text) => [encodePiece(text), encodeLastPiece(text)],
    tokens: [...HEADER, '\n', 'From '],
  },
  {
    name: 'messages of campaigns',
    parse: (text) =>
      compileMessage({
        from: { email: 'a@example.com' },
        subject: parseTemplate('x', 'subject'),
        html: literal(text),
        text: literal(text),
      }).render({ to: { email: 'b@example.com' }, messageId: 'a@example.com', date: new Date(0), values: {} }),
    tokens: HEADER,
  },
  { name: 'bodies of messages', parse: (text) => buildMessage({ ...input, html: text, text }), tokens: HEADER },
  {
    name: 'heads of messages',
    parse: (text) =>
      buildMessage({
        ...input,
        subject: text.slice(0, 998),
        to: [{ email: 'b@example.com', name: text.slice(0, 998) }],
      }),
    tokens: HEADER,
  },
  {
    name: 'names of attachments',
    parse: (text) =>
      buildMessage({ ...input, attachments: [{ filename: text.slice(0, 255), content: Buffer.from(text) }] }),
    tokens: HEADER,
  },
  {
    name: 'signing',
    parse: (text) => splitMessage(Buffer.from(`${text}\r\n\r\n${text}`)).fields.map(relaxedField),
    tokens: HEADER,
  },
  {
    name: 'signed bodies',
    parse: (text) => relaxedBody(Buffer.from(text)),
    tokens: [' ', '\t', '\r\n', '\r', '\n', 'a'],
  },
  {
    name: 'envelopes',
    parse: (data) => prepare({ from: 'a@example.com', to: 'b@example.com', data }),
    tokens: ['.', '\r\n', '\n', 'a', '\u00fc'],
  },
  { name: 'submitted mail', parse: (text) => submitted(Buffer.from(text)), tokens: MIME },
  { name: 'submitted HTML', parse: (text) => submitted(mail('text/html')(text)), tokens: HTML },
  {
    name: 'submitted text',
    parse: (text) => submitted(mail('text/plain; format=flowed')(text)),
    tokens: ['a', ' \r\n', '\r\n', '> ', ' ', '=', '-'],
  },
  {
    name: 'submitted headers',
    parse: (text) =>
      submitted(Buffer.from(`From: ${text}\r\nTo: ${text}\r\nX-A: ${text}\r\nSubject: ${text}\r\n\r\nx`)),
    tokens: MAIL,
  },
  {
    name: 'submitted encoded words',
    parse: (text) => submitted(Buffer.from(`X-A: ${text}\r\nSubject: ${text}\r\n\r\nx`)),
    tokens: ['=?utf-8?Q?', '?=', '=?', '?', '=', ' ', 'a', '\r\n '],
  },
  {
    name: 'submitted parameters',
    parse: (text) => submitted(mail(`text/plain; ${text}`)('x')),
    tokens: ['a=', 'a*0=', '"', ';', '\\', ' ', "''", '%', 'boundary='],
  },
  { name: 'bounce', parse: (text) => returned(Buffer.from(text)), tokens: MIME },
  {
    name: 'returned text',
    parse: (text) => returned(Buffer.from(`From: mailer-daemon@example.com\r\nSubject: failure notice\r\n\r\n${text}`)),
    tokens: [...WORDS, '<a@b.example>:', 'because:', '----', '\r\n'],
    known: [(length) => `a@b.example${' '.repeat(length)}${'x'.repeat(1_500)}`],
  },
  {
    name: 'returned HTML',
    parse: (text) =>
      returned(
        Buffer.from(
          `From: mailer-daemon@example.com\r\nSubject: failure notice\r\nContent-Type: text/html\r\n\r\n${text}`,
        ),
      ),
    tokens: HTML,
  },
  {
    name: 'returned subjects',
    parse: (text) => returned(Buffer.from(`From: ${text}\r\nSubject: ${text}\r\n\r\nx`)),
    tokens: ['re: ', 'warning: ', 'message ', 'delayed', 'auto', ' ', 'a', '@'],
  },
  {
    name: 'delivery status',
    parse: (text) => {
      const group = fieldGroups(text).find((fields) => fields.has('status'));
      return detailOf(group?.get('status'), group?.get('diagnostic-code'), text);
    },
    tokens: ['Status: ', 'Diagnostic-Code: ', '\n', '\r', ' ', '\t', ':', 'a', '5.1.1', 'smtp; ', '\u2028'],
    known: [(length) => `Status:${' '.repeat(length)}a\u2028a`],
  },
  {
    name: 'words of servers',
    parse: (text) => [replyIn(text), statusOf(text), detailOf('5.0.0', text, text)],
    tokens: WORDS,
  },
  {
    name: 'more words of servers',
    parse: (text) => [replyIn(text), statusOf(text)],
    tokens: [
      'mailbox ',
      'full',
      'quota ',
      'exceeded ',
      'the ',
      'host',
      'account',
      'no such ',
      'delivery ',
      'time',
      '-- ',
      '\n \n',
    ],
  },
  { name: 'replies of servers', parse: (text) => [classify(text), outcomeOf(550, text, 'rcpt')], tokens: WORDS },
  {
    name: 'SMTP session of servers',
    parse: (text) => {
      const reader = new ReplyReader(() => {});
      for (let at = 0; at < text.length; at += 512) {
        const chunk = Buffer.from(text.slice(at, at + 512));
        if (!reader.push(chunk, chunk.length)) return;
      }
    },
    tokens: ['250-', '250 ', '\r\n', '\n', 'a', ' ', '5'],
  },
  {
    name: 'responses to webhooks',
    parse: (text) => {
      const ignored = () => {};
      const parser = new ResponseParser({ onStatus: ignored, onRetryAfter: ignored, onBody: ignored }, Infinity);
      const bytes = Buffer.from(`HTTP/1.1 200 OK\r\n${text}`);
      for (let at = 0; at < bytes.length && !parser.isComplete; at += 64) parser.push(bytes.subarray(at, at + 64));
    },
    tokens: [
      '\r\n',
      'X-A: b\r\n',
      'Content-Length: 1, 1',
      'Transfer-Encoding: chunked\r\n',
      'Connection: a, ',
      'Keep-Alive: x ',
      '1\r\na\r\n',
      ' ',
      ',',
      'a',
    ],
  },
  {
    name: 'addresses in mail',
    parse: (text) => [namedAddresses(text), findReturnAddress(text)],
    tokens: [...MAIL, 'b+0123456789'],
  },
  {
    name: 'links in mail',
    parse: (text) => findRecipient(text, `eml_${'0'.repeat(26)}`),
    tokens: [`/u/${'0'.repeat(26)}-`, 'a', '-', ' ', '/u/'],
  },
  { name: 'links to unsubscribe by', parse: readToken, tokens: ['0'.repeat(26), '-', 'a', '_', ' '] },
  {
    name: 'tracked links',
    parse: (text) => [
      readTrackingToken(text),
      unsealValues('eml_0', 0, text),
      targetOf(text, ['x']),
      readConfirmToken(text),
      isPageToken('frm_0', text),
    ],
    tokens: ['{{', '}}', '{{a}}', 'https://', 'a', '.', '-', ' '],
  },
  {
    name: 'user agents',
    parse: (text) => [botReason({ method: 'GET', userAgent: text }), anonymizedNetwork(text)],
    tokens: ['bot', 'Mozilla/5.0', ' ', ':', '::', '::ffff:', '1.', 'a', '%'],
  },
  {
    name: 'CSV',
    parse: (text) => readCsv(text),
    tokens: CSV,
    known: ['" ', '"a"b",', ',"a"b', '"""a,', '""a"",'].map(
      (unit) => (length: number) => unit.repeat(length / unit.length),
    ),
  },
  { name: 'CSV with rows', parse: (text) => readCsv(text, (values) => isAddress(values[0] ?? '')), tokens: CSV },
  {
    name: 'the form of CSV',
    parse: (text) => [dialectOf(text), findEmailColumn(headerOf(text.split(',')), [text.split(',')])],
    tokens: CSV,
  },
  {
    name: 'encodings of files',
    parse: encodingOf,
    tokens: ['a', ' ', '\u00fc', '\u0416', '\u6f22', ',', '\n', '\0', '\ufeff'],
  },
  {
    name: 'bytes of files',
    parse: (text) => encodingOf(text, 'latin1'),
    tokens: ['a', ' ', '\u00fc', '\u00e4\u00f6', ',', '\n', '\u0081', 'A'],
  },
  {
    name: 'columns of files',
    parse: (text) => [keyFor(text, 0, new Set()), labelFor(text, 0), guessOf(text)],
    tokens: ['a', '_', '0', ' ', '-', '\u00fc', '.', '\u00df'],
  },
  {
    name: 'written CSV',
    parse: (text) => csvLine([guard(text), unguard(text)]),
    tokens: ["'", '=', '"', ' ', '\n', 'a'],
  },
  ...(['text', 'number', 'boolean', 'date', 'select'] as const).map((type) => ({
    name: `values of type ${type}`,
    parse: (text: string) => coerce(text, field(type)),
    tokens: NUMBERS,
  })),
  { name: 'dates', parse: (text) => [parseDateTime(text), dayFromDateTime(text)], tokens: NUMBERS },
  {
    name: 'filters of segments',
    parse: (text) => readFilter(json(text), new Map()),
    tokens: JSON_TEXT,
    known: [
      (length) =>
        `{"and":[${Array(Math.ceil(length / 30))
          .fill('{"field":"email","op":"is"}')
          .join(',')}]}`,
      (length) => `${repeat('{"not":', length)}1${'}'.repeat(Math.ceil(length / 7))}`,
      (length) => `{"field":"event","op":"ever","event":"${repeat('a b ', length)}"}`,
      (length) =>
        `{"field":"event","op":"ever","event":"a","where":[${list(length, () => '{"property":"a.b","op":"is_not","value":1}')}]}`,
    ],
  },
  {
    name: 'definitions of journeys',
    parse: (text) => {
      const given = json(text);
      if (jsonProblem(given) !== undefined) return undefined;
      const { definition, problems } = parseDefinition(given);
      return definition === undefined ? problems : graphProblems(definition);
    },
    tokens: [...JSON_TEXT, '"steps":', '{"id":"a","type":"exit"},', '"where":', '_a'],
    known: [
      (length) => definitionOf(length, (index) => `{"id":"s${index}","type":"wait","for":{"days":1},"next":"s0"}`),
      (length) => definitionOf(length, () => '{"id":"a","type":"send","a_b":{"c_d":1}}'),
      (length) => definitionOf(length, () => '1'),
      (length) =>
        `{"entry":{"type":"event","event":"a","where":[${list(length, () => '{"property":"a.b","op":"is"}')}]},"steps":[]}`,
      (length) => `{"entry":{"type":"manual"},"timeZone":"${repeat('a/', length)}","steps":[]}`,
      (length) =>
        `{"entry":{"type":"manual"},"steps":[{"id":"a","type":"update_field","field":"custom${repeat('_', length)}"}]}`,
      (length) => `{"${repeat('_a', length)}":1}`,
      (length) => definitionOf(length, () => '{}'),
    ],
  },
  {
    name: 'properties of events',
    parse: (text) => checkProperties(json(text)),
    tokens: JSON_TEXT,
    known: [
      (length) => `{${list(length, (index) => `"${index}":1`)}}`,
      (length) => `{${list(length, (index) => `"a${index}":{"b":[1,"2026-11-24"]}`)}}`,
      (length) => `{"a":[${list(length, () => '{}')}]}`,
      (length) => `{"a":"${repeat('2026-11-24T', length)}"}`,
    ],
  },
  { name: 'types of properties', parse: typeOf, tokens: NUMBERS },
  {
    name: 'paths of properties',
    parse: (path) => [
      matches({ a: { b: path } }, [
        { property: path, op: 'isSet' },
        { property: 'a.b', op: 'contains', value: path.slice(path.length / 2) },
      ]),
      withDefaults({ a: 1 }, [{ name: path, value: 1 }]),
    ],
    tokens: ['.', 'a', 'b', '__proto__', 'a.b.', ' '],
  },
  {
    name: 'PROXY headers',
    parse: (text) => parseProxyHeader(Buffer.from(text, 'latin1')),
    tokens: ['PROXY ', 'TCP4 ', 'UNKNOWN', '127.0.0.1 ', '1', ' ', '\r\n', '\r\n\r\n\0\r\nQUIT\n\x21\x11', '\0'],
  },
  {
    name: 'addresses of clients behind proxies',
    parse: (text) => [
      clientAddress({ headers: { 'x-forwarded-for': text }, socket: { remoteAddress: '127.0.0.1' } }, LOOPBACK),
      clientAddress({ headers: { forwarded: text }, socket: { remoteAddress: '127.0.0.1' } }, LOOPBACK),
    ],
    tokens: ['127.0.0.1', ',', ' ', ';', 'for=', '"', '[', ']', ':', '1.', '%', '::ffff:'],
  },
  {
    name: 'bodies of requests',
    parse: (text) => jsonProblem(parseBody('application/json', Buffer.from(text))),
    tokens: JSON_TEXT,
  },
  {
    name: 'records of DNS',
    parse: (text) => [spfProblem([text], 'include:x'), spfProblem([`v=spf1 ${text}`], 'x'), unquoteText(text)],
    tokens: ['"', '\\', ' ', 'v=spf1 ', 'include:', 'a', '\\0', '-all'],
  },
  {
    name: 'mail of the development inbox',
    parse: (text) => [summarize(Buffer.from(`${text}\r\n\r\nx`)), pathsToFetch('clicked', mail('text/html')(text))],
    tokens: [...HEADER.slice(0, 8), '<img ', ' src="', '/t/o/', 'href="'],
  },
  {
    name: 'frames of the development inbox',
    parse: (html) => renderFrame({ html, attachments: [], headers: [], headerLines: [] }),
    tokens: ['<head ', '<html', '<!doctype', 'cid:', '>', ' ', 'a', '"'],
  },
];

function encodingOf(text: string, encoding: BufferEncoding = 'utf8'): string {
  const detector = new EncodingDetector();
  detector.add(Buffer.from(text, encoding));
  return detector.end();
}

function guessOf(text: string) {
  const guess = new TypeGuess();
  for (const value of text.split(' ')) guess.add(value);
  return guess.type;
}
