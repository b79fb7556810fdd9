import { expect, test } from 'vitest';
import { parseTemplate, renderTemplate } from '@postroom/templating';
import type { Values } from '@postroom/templating';
import { lf, parseStrictly, seededRandom } from './support.ts';
import { textFromHtml } from '../src/html-to-text.ts';
import { compileMessage, MessageError } from '../src/index.ts';
import type { CompileInput, CompileRecipient } from '../src/index.ts';

const recipient: CompileRecipient = {
  to: { name: 'Ada Lovelace', email: 'ada@example.com' },
  messageId: 'eml_1@mail.example.com',
  date: new Date('2026-11-20T12:34:56.789Z'),
  values: {},
};
const frameOf = (
  html: string,
  rest: { subject?: string; text?: string } & Partial<Pick<CompileInput, 'from' | 'replyTo' | 'headers'>> = {},
) =>
  compileMessage({
    from: rest.from ?? { name: 'Postroom', email: 'news@example.com' },
    replyTo: rest.replyTo,
    headers: rest.headers,
    subject: parseTemplate(rest.subject ?? 'News', 'subject'),
    html: parseTemplate(html, 'html'),
    text: rest.text === undefined ? textFromHtml(parseTemplate(html, 'html')) : parseTemplate(rest.text, 'text'),
    isTextGenerated: rest.text === undefined,
  });
const send = (frame: ReturnType<typeof frameOf>, over: Partial<CompileRecipient> = {}) =>
  parseStrictly(frame.render({ ...recipient, ...over }));

test('a message has its headers, its text and its HTML', async () => {
  const frame = frameOf('<p>Hi {{name|there}}</p>', {
    subject: 'News for {{name|you}}',
    text: 'Hi {{name|there}}',
    replyTo: { email: 'help@example.com' },
    headers: { 'Feedback-ID': 'a:b:campaign:postroom' },
  });
  const mail = await send(frame, { values: { name: 'Ada' }, headers: { 'X-Row': '7' } });
  expect(mail).toMatchObject({
    subject: 'News for Ada',
    from: { name: 'Postroom', address: 'news@example.com' },
    to: [{ name: 'Ada Lovelace', address: 'ada@example.com' }],
    replyTo: [{ address: 'help@example.com' }],
    messageId: '<eml_1@mail.example.com>',
    date: '2026-11-20T12:34:56.000Z',
  });
  expect(lf(mail.text)).toBe('Hi Ada');
  expect(lf(mail.html)).toBe('<p>Hi Ada</p>');
  const headers = Object.fromEntries(mail.headers.map(({ key, value }) => [key, value]));
  expect(headers).toMatchObject({ 'feedback-id': 'a:b:campaign:postroom', 'x-row': '7', 'mime-version': '1.0' });
  expect(headers.date).toBe('Fri, 20 Nov 2026 12:34:56 +0000');
});

test('one-click unsubscribe headers conform to RFC 8058', async () => {
  const url = `https://example.com/u/${'x'.repeat(200)}`;
  const mail = await send(frameOf('x'), { unsubscribe: { url, mailto: 'u+7@example.com?subject=off' } });
  const value = (key: string) => mail.headers.filter((header) => header.key === key).map((header) => header.value);
  expect(value('list-unsubscribe')).toEqual([`<${url}>, <mailto:u+7@example.com?subject=off>`]);
  expect(value('list-unsubscribe-post')).toEqual(['List-Unsubscribe=One-Click']);
});

test('a message without an unsubscribe link of ours may have its own headers for it', async () => {
  const headers = {
    'List-Unsubscribe': '<mailto:off@example.com>',
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  };
  const mail = await send(frameOf('x', { headers }));
  expect(mail.headers).toEqual(expect.arrayContaining([expect.objectContaining({ key: 'list-unsubscribe' })]));
  const both = { ...recipient, unsubscribe: { url: 'https://example.com/u/1' } };
  expect(() => frameOf('x', { headers }).render(both)).toThrow('List-Unsubscribe is set by Postroom');
});

const NAMES = [
  'Jürgen Groß',
  'Ada "The Countess" Lovelace',
  'Back\\slash, Inc. (Sales)',
  '李小龍',
  'مرحبا بالعالم',
  'שלום עולם',
  '👩‍👩‍👧‍👦 Family 👍🏽',
  '=?UTF-8?Q?not_an_encoded_word?=',
  'a@b.example',
  'Ångström '.repeat(12).trim(),
  'x'.repeat(90),
  '😀'.repeat(60),
];

test.each(NAMES)('%s survives as a display name and as a subject', async (name) => {
  const frame = frameOf('<p>{{name}}</p>', { subject: '{{name}}', from: { name, email: 'news@example.com' } });
  const mail = await send(frame, { to: { name, email: 'ada@example.com' }, values: { name } });
  expect(mail.from).toMatchObject({ name, address: 'news@example.com' });
  expect(mail.to?.[0]).toMatchObject({ name, address: 'ada@example.com' });
  expect(mail.subject).toBe(name);
});

test('a long subject is folded between words', async () => {
  const subject = 'The quick brown fox jumps over the lazy dog, '.repeat(8).trim();
  const message = frameOf('x', { subject }).render(recipient);
  expect(Math.max(...message.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(78);
  expect((await parseStrictly(message)).subject).toBe(subject);
  const word = 'x'.repeat(1500);
  expect((await send(frameOf('x', { subject: word }))).subject).toBe(word);
});

test('an internationalized domain is sent as Punycode and a local part as UTF-8', async () => {
  const mail = await send(frameOf('x'), { to: { email: 'ada@müller.example' } });
  expect(mail.to?.[0]?.address).toBe('ada@xn--mller-kva.example');
  const message = frameOf('x').render({ ...recipient, to: { name: 'Ü', email: 'jürgen@example.com' } });
  expect(Buffer.from(message, 'latin1').toString('utf8')).toContain('<jürgen@example.com>');
});

test('bodies survive: dots, trailing spaces, From lines, long lines, bare line endings, control characters', async () => {
  const text = [
    '.',
    '..two',
    '.{{v}}',
    '{{v}}',
    'From here {{v}}',
    'From there ',
    'tab\t',
    'x'.repeat(2000),
    'word '.repeat(400),
    '.'.repeat(300),
    'é'.repeat(300),
    '😀'.repeat(100),
    '=3D = =?UTF-8?Q?x?=',
    'one\rtwo\r\nthree',
    'end ',
  ].join('\n');
  const values = { v: '.From' };
  const template = parseTemplate(text, 'text');
  const message = frameOf('<p>x</p>', { text }).render({ ...recipient, values });
  expect(message).not.toMatch(/\r\n\./);
  expect(message).not.toMatch(/\r\nFrom there/);
  expect(message).not.toMatch(/[ \t]\r\n/);
  for (const line of message.split('\r\n')) expectWholeCharacters(line);
  expect(lf((await parseStrictly(message)).text)).toBe(lf(renderTemplate(template, values)));
});

test('the text part is derived from the HTML, with its variables and links', async () => {
  const frame = frameOf(`<html><head><title>T</title><style>p{}</style></head><body>
    <h1>Hello {{name|there}}</h1><p>See <a href="https://example.com/?q={{name}}">this</a>.</p>
    <table><tr><td>One</td><td>Two</td></tr></table><img src="{{pixel_url}}"><img src="a.png" alt="Logo">
    <a href="{{unsubscribe_url}}">Unsubscribe</a> &copy; {{company | Tom &amp; Co}}</body></html>`);
  const values: Values = { name: 'A&B <é>', unsubscribe_url: 'https://example.com/u?a=1&b=2', pixel_url: 'https://p' };
  expect(lf((await send(frame, { values })).text)).toBe(
    'Hello A&B <é>\n\nSee this <https://example.com/?q=A%26B%20%3C%C3%A9%3E>.\n\nOne\nTwo\n\n' +
      'Logo Unsubscribe <https://example.com/u?a=1&b=2> © Tom & Co',
  );
});

test('an empty value leaves no brackets and no blank lines in generated text, and changes nothing in written text', async () => {
  const html = `<p>Hi {{name}}, is 1 <> 2?</p><p>{{note | default: ""}}</p><p>{{ tip | strip }}</p>
    <p><a href="{{shop | default: ""}}">Shop</a> or <a href="https://example.com/{{path}}">read</a></p><p>{{note}}</p>`;
  const text = 'Hi {{name}}\n\n{{note}}\n\n <{{shop}}>\n';
  const values = { name: 'Ada', path: 'news' };
  const empty = await send(frameOf(html), { values });
  expect(lf(empty.text)).toBe('Hi Ada, is 1 <> 2?\n\nShop or read <https://example.com/news>');
  expect(lf(empty.html)).toContain('<a href="">Shop</a>');
  const full = await send(frameOf(html), {
    values: { ...values, note: 'A note', tip: 'A tip', shop: 'https://example.com' },
  });
  expect(lf(full.text)).toBe(
    'Hi Ada, is 1 <> 2?\n\nA note\n\nA tip\n\nShop <https://example.com> or read <https://example.com/news>\n\nA note',
  );
  expect(lf((await send(frameOf(html, { text }), { values })).text)).toBe('Hi Ada\n\n\n\n <>');
});

test('a link whose URL is empty without a value or by tags is its text alone in generated text', async () => {
  const html = `<p><a href="{% if shop %}{{shop}}{% endif %}">Shop</a>, <a href="{% if vip %}https://example.com/vip{% endif %}">VIP</a>, <a href="{{host | default: ""}}{{path | default: ""}}">home</a>, a <> b</p>`;
  const textOf = async (values: Values) => lf((await send(frameOf(html), { values })).text);
  expect(await textOf({})).toBe('Shop, VIP, home, a <> b');
  expect(await textOf({ shop: 'https://example.com', vip: true, path: '/a' })).toBe(
    'Shop <https://example.com>, VIP <https://example.com/vip>, home <%2Fa>, a <> b',
  );
});

test('conditions and loops choose encoded pieces, in the HTML and in the text derived from it', async () => {
  const frame = frameOf(
    `<html><head>{% assign vip = plan %}<title>x</title></head><body><p>Hi {{ name | upcase }}</p>
    {% if vip == "pro" %}<p>.Thänk you</p>{% elsif plan %}<p>Upgrade <a href="https://x.example/{% if a %}a{% else %}b{% endif %}">now</a></p>{% endif %}
    <table>{% for item in items %}<tr><td>{{ item.name }}</td><td>{{ item.price | currency: "EUR" }}</td></tr>{% endfor %}</table>
    <ul>{% for item in items %}<li>{{ item.name }}</li>{% endfor %}</ul></body></html>`,
    { subject: '{% if plan == "pro" %}Thanks{% else %}News{% endif %} for {{name}}' },
  );
  const items = [
    { name: 'A < B', price: 4.5 },
    { name: 'É', price: 10 },
  ];
  const pro = await send(frame, { values: { name: 'Ada', plan: 'pro', items } });
  expect(pro.subject).toBe('Thanks for Ada');
  expect(lf(pro.html)).toContain('<p>.Thänk you</p>');
  expect(lf(pro.html)).toContain('<tr><td>A &lt; B</td><td>€4.50</td></tr><tr><td>É</td><td>€10.00</td></tr>');
  expect(lf(pro.html)).not.toContain('Upgrade');
  expect(lf(pro.text).trimEnd()).toBe('Hi ADA\n\n.Thänk you\n\nA < B\n€4.50\nÉ\n€10.00\n * A < B\n * É');
  const free = await send(frame, { values: { name: 'Bob', plan: 'free' } });
  expect(free.subject).toBe('News for Bob');
  expect(lf(free.html)).toContain('<p>Upgrade <a href="https://x.example/b">now</a></p>');
  expect(lf(free.text)).toBe('Hi BOB\n\nUpgrade now <https://x.example/b>');
  expect(lf((await send(frame, { values: { name: 'Cy' } })).text)).toBe('Hi CY');
});

test('a message that exceeds a bound for its values is refused, and others are not', () => {
  const frame = frameOf('{% for i in items %}{% for j in items %}{{ i }}{% endfor %}{% endfor %}');
  expect(frame.render({ ...recipient, values: { items: ['a', 'b'] } })).toContain('a=');
  const render = () => frame.render({ ...recipient, values: { items: Array(2000).fill('a') } });
  expect(render).toThrow('cannot be rendered with its values: The template needs more than 50000 steps');
  expect(render).toThrow(MessageError);
});

test('no field of a recipient can inject a header', async () => {
  const frame = frameOf('x', { subject: '{{v}}' });
  const evil = 'x\r\nBcc: all@example.com\r\n\r\nbody';
  const message = frame.render({ ...recipient, to: { name: evil, email: 'ada@example.com' }, values: { v: evil } });
  const mail = await parseStrictly(message);
  expect(mail.bcc).toBeUndefined();
  expect(mail.subject).toBe('x Bcc: all@example.com body');
  const refused = (over: Partial<CompileRecipient>) => expect(() => frame.render({ ...recipient, ...over })).toThrow();
  for (const bad of ['\r\n', '\n', '\r', '\0', ' ', '>', ',', '\u010d']) {
    refused({ to: { email: `ada${bad}Bcc:x@example.com` } });
    refused({ to: { email: `ada@example.com${bad}Bcc:x` } });
    refused({ messageId: `a${bad}b@example.com` });
    refused({ unsubscribe: { url: `https://example.com/${bad}` } });
    refused({ unsubscribe: { url: 'https://example.com/', mailto: `a${bad}@example.com` } });
  }
  refused({ unsubscribe: { url: 'javascript:x' } });
  refused({ headers: { 'X-A': 'a\r\nB: c' } });
  refused({ headers: { 'X-A\r\nB': 'c' } });
  refused({ headers: { 'X A': 'c' } });
  refused({ headers: { bcc: 'c' } });
  refused({ headers: { 'Content-Type': 'c' } });
  refused({ headers: { 'List-Unsubscribe': 'c' }, unsubscribe: { url: 'https://example.com/' } });
});

test('a template with problems or an invalid sender is rejected', () => {
  expect(() => frameOf('a\n{{')).toThrow('Line 2, column 1');
  expect(() => frameOf('a', { from: { email: 'a@b\r\n.example' } })).toThrow('not an email address');
  expect(() => frameOf('a', { from: { email: 'ü@example.com' } })).toThrow('must be ASCII');
});

test('inserting a value never changes its surroundings', async () => {
  const random = seededRandom(11);
  const alphabet = [
    'a',
    'From ',
    '.',
    ' ',
    '\t',
    '\n',
    '\r\n',
    '=',
    '=3D',
    'é',
    '漢',
    '😀',
    '?',
    'word',
    '-'.repeat(30),
    '\ud83d',
  ];
  const some = (most: number) => Array.from({ length: random(most) }, () => alphabet[random(alphabet.length)]).join('');
  for (let round = 0; round < 400; round++) {
    const source = `${some(40)}{{a}}${some(40)}{{b}}{{a}}${some(90)}`;
    const values = { a: some(30), b: some(60) };
    const template = parseTemplate(source, 'text');
    const mail = await send(frameOf(`<p>{{a}}</p>`, { text: source, subject: 'S {{b}} .' }), { values });
    const expected = carried(renderTemplate(template, values));
    expect(lf(mail.text)).toBe(expected);
    const subject = renderTemplate(parseTemplate('S {{b}} .', 'subject'), values);
    expect(mail.subject).toBe(subject.replace(/\s+/g, ' ').trim());
  }
});

/** Every line of quoted-printable decodes on its own. */
function expectWholeCharacters(line: string): void {
  const octets = line.replace(/=$/, '').replace(/=([\dA-F]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
  const decode = () => new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(octets, 'latin1'));
  expect(decode, line).not.toThrow();
}

/** The text as UTF-8 can represent it. */
function carried(text: string): string {
  return lf(text.toWellFormed());
}

test('a subject that its values make longer than 998 characters is not sent', () => {
  const frame = frameOf('<p>Hello</p>', { subject: '{{name}}' });
  const render = (name: string) => frame.render({ ...recipient, values: { name } });
  expect(render('x'.repeat(998))).toContain('Subject: ');
  expect(() => render('x'.repeat(999))).toThrow(/the subject has more than 998 characters/);
});

test('text generated from HTML shows a link once if its URL is its text, and encodes a URL that is a value', async () => {
  const html =
    '<p><a href="{{url}}">To {{url}}</a></p><p><a href="{{url}}">Go</a></p><a href="mailto:{{email}}">{{email}}</a>';
  const values = { url: 'https://example.com/a b', email: 'ada@example.com' };
  const mail = await send(frameOf(html), { values });
  expect(lf(mail.text)).toBe('To https://example.com/a%20b\n\nGo <https://example.com/a%20b>\n\nada@example.com');
});

const textOf = (html: string, values: Values = {}) =>
  renderTemplate(textFromHtml(parseTemplate(html, 'html')), values).trim();

test.each([
  ['before and after the body', '<p>A</p><body><p>B</p></body></html><p>C {{name}}</p>', 'A\n\nB\n\nC Ada'],
  ['of a document without a body', '<head><title>Title</title></head><p>Hi {{name}}</p>', 'Hi Ada'],
])('text generated from HTML has what mail programs show %s', (_name, html, text) => {
  expect(textOf(html, { name: 'Ada' })).toBe(text);
});

test('text generated from HTML leaves out what is hidden', () => {
  const preview = '<div style="max-height:0;DISPLAY: none">{{name}}, read this&zwnj;&nbsp;</div>';
  const table = '<table><tr style="display:none"><td>{% if a %}A{% endif %}</td></tr><tr><td>B</td></tr></table>';
  expect(textOf(`${preview}<p>Hi {{name}}</p>${table}`, { name: 'Ada', a: true })).toBe('Hi Ada\n\nB');
  const conditional = '<p>A</p><p style="{% if a %}display:none{% endif %}">{{name}}</p><p>B</p>';
  expect(textOf(conditional, { name: 'Ada' })).toBe('A\n\nAda\n\nB');
});

test('text generated from HTML keeps the scheme of an address with a subject', () => {
  const links = '<a href="mailto:a@b.test?subject={{s}}">Leave</a>, <a href="mailto:a@b.test">write</a>';
  expect(textOf(links, { s: 'leave us' })).toBe('Leave <mailto:a@b.test?subject=leave%20us>, write <a@b.test>');
});
