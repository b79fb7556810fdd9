import { expect, test } from 'vitest';
import {
  addToBody,
  addToBodyStart,
  bindValues,
  missing,
  parseTemplate,
  renderTemplate,
  variablesOf,
} from '../src/index.ts';

const text = (source: string, values = {}) => renderTemplate(parseTemplate(source, 'text'), values);

test('a placeholder shows its value, else its default, else nothing', () => {
  expect(text('Hi {{name}}!', { name: 'Ada' })).toBe('Hi Ada!');
  expect(text('Hi {{name|there}}!')).toBe('Hi there!');
  expect(text('Hi {{ name | dear friend }}!', { name: '' })).toBe('Hi dear friend!');
  expect(text('Hi {{ name | default: "there" }}!', { name: null })).toBe('Hi there!');
  expect(text("Hi {{name|default:'there'}}!", { name: ' \t' })).toBe('Hi there!');
  expect(text('Hi {{name}}!')).toBe('Hi !');
});

test('values other than text are formatted plainly', () => {
  expect(text('{{a}} {{b}} {{c}}', { a: 12.5, b: false, c: 0 })).toBe('12.5 false 0');
  expect(text('{{d}}', { d: new Date('2026-11-20T00:00:00Z') })).toBe('2026-11-20');
  expect(text('{{d}}', { d: new Date('2026-11-20T14:30:59Z') })).toBe('2026-11-20 14:30 UTC');
  expect(text('{{a|none}} {{b|none}}', { a: Number.NaN, b: new Date('never') })).toBe('none none');
});

test('properties of Object.prototype are not values', () => {
  expect(text('{{constructor|a}}{{__proto__|b}}{{toString|c}}{{hasOwnProperty}}')).toBe('abc');
});

test('placeholders in values are not expanded', () => {
  expect(text('{{a}}', { a: '{{secret}}', secret: 'x' })).toBe('{{secret}}');
});

test('variables are listed once, in order of appearance', () => {
  const template = parseTemplate('{{b}} {{a|x}} {{b}} {{custom_key}}', 'text');
  expect(variablesOf(template)).toEqual(['b', 'a', 'custom_key']);
});

test('missing names are those with neither value nor default', () => {
  const template = parseTemplate('{{a}} {{b|x}} {{c}} {{d|}} {{a}}', 'text');
  expect(missing(template, { c: 'here' })).toEqual(['a']);
  expect(missing(template, { a: 0, c: false })).toEqual([]);
});

test.each([
  ['Hi {{name', 'not closed'],
  ['Hi {{name {{other}}', 'not closed'],
  ['{{}}', 'empty'],
  ['{{ first name }}', 'not a placeholder'],
  ['{{{name}}}', 'two braces'],
  ['{{#if name}}x{{/if}}', 'command'],
  ['{{name | default: "there}}', 'no closing quote'],
  ['{{name | upcse | default: "x"}}', '"upcse" is not a filter'],
  ['{{name | upcse: 1}}', 'no filter "upcse"'],
  ['{{1st}}', 'not a placeholder'],
])('%s is a problem, and is left unchanged', (source, words) => {
  const template = parseTemplate(source, 'text');
  expect(template.problems[0]?.message).toContain(words);
  expect(renderTemplate(template, { other: '{{other}}' })).toBe(source);
});

test('a problem has its line and column, from 1', () => {
  const { problems } = parseTemplate('Hello,\n  {{ a b }} and\n{{c}} {{', 'text');
  expect(problems).toMatchObject([
    { position: 9, line: 2, column: 3 },
    { position: 29, line: 3, column: 7 },
  ]);
});

test('braces in styles are not placeholders', () => {
  const css = '<style>@media print{.a{color:red}}</style>{{name}}';
  const template = parseTemplate(css, 'html');
  expect(template.problems).toEqual([]);
  expect(variablesOf(template)).toEqual(['name']);
});

test('a subject stays on one line whatever its values hold', () => {
  const template = parseTemplate('For {{name}}', 'subject');
  expect(renderTemplate(template, { name: 'Ada\r\nBcc: all@example.com\0' })).toBe('For Ada Bcc: all@example.com ');
  expect(renderTemplate(template, { name: 'a\u2028b\u0085c\ud800' })).toBe('For a b c\ufffd');
});

test('a text keeps the line breaks of values and drops other control characters', () => {
  expect(text('{{a}}', { a: 'one\r\ntwo\tthree\0\u001b[31m\u009b' })).toBe('one\r\ntwo\tthree[31m');
});

test('markup that editors insert into placeholders is removed', () => {
  const template = parseTemplate('{{&nbsp;name&nbsp;|\n default: &quot;Tom &amp; Co&quot;\u00a0}}', 'html');
  expect(template.problems).toEqual([]);
  expect(renderTemplate(template, {})).toBe('Tom &amp; Co');
});

test('values that all recipients share are filled in once, and leave the other placeholders', () => {
  const template = parseTemplate('<p title="{{who}}">{{who}} {{name|there}} {{none|x}}</p>', 'html');
  const bound = bindValues(template, { who: 'A & B', none: '' });
  expect(variablesOf(bound)).toEqual(['name', 'none']);
  expect(bound.source).toBe('<p title="A &amp; B">A &amp; B {{name | default: "there"}} {{none | default: "x"}}</p>');
  expect(renderTemplate(bound, { name: 'Ada' })).toBe('<p title="A &amp; B">A &amp; B Ada x</p>');
  expect(bindValues(template, {})).toBe(template);
});

test.each([
  ['a body', '<html><head></head><body class=">">Hi</body>', '<html><head></head><body class=">">+Hi</body>'],
  ['a head without a body', '<head><title>x</title></head>Hi', '<head><title>x</title></head>+Hi'],
  ['a fragment', '<p>Hi</p>', '+<p>Hi</p>'],
  ['a body tag that does not end', '<body class="', '+<body class="'],
  [
    'a body for Outlook and one for others',
    '<!--[if mso]><body class="m"><![endif]--><!--[if !mso]><!--><body><!--<![endif]-->Hi',
    '<!--[if mso]><body class="m"><![endif]--><!--[if !mso]><!--><body><!--<![endif]-->+Hi',
  ],
  ['a body after a comment about it', '<!-- <body> --><body>Hi', '<!-- <body> --><body>+Hi'],
])('text is added at the start of %s', (_name, html, expected) => {
  expect(addToBodyStart(html, '+')).toBe(expected);
});

test('text is added at the end of the body, which a comment does not end', () => {
  expect(addToBody('<body>Hi</body><!-- </body> -->', '+')).toBe('<body>Hi+</body><!-- </body> -->');
  expect(addToBody('<body>Hi<!--[if mso]></body><![endif]-->', '+')).toBe('<body>Hi<!--[if mso]></body><![endif]-->+');
});
