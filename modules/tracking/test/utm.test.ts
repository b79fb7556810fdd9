import { parseTemplate, renderTemplate, sourceOf } from '@postroom/templating';
import { expect, test } from 'vitest';
import { addUtm } from '../src/utm.ts';
import { unsealValues } from '../src/token.ts';
import { targetOf, trackHtml } from '../src/track-html.ts';

const UTM = { utm_source: 'news letter', utm_medium: 'email', utm_campaign: null };
const ADDED = 'utm_source=news%20letter&amp;utm_medium=email';
const VALUES = { id: 'a&b', site: 'https://shop.test/?x=1#top', unsubscribe_url: 'https://u.test/' };

const withUtm = (html: string) => renderTemplate(addUtm(parseTemplate(html, 'html'), UTM), VALUES);

test.each([
  ['a link without a query', '<a href="https://a.test/x">', `<a href="https://a.test/x?${ADDED}">`],
  ['a link with a query', '<a href="https://a.test/?a=1">', `<a href="https://a.test/?a=1&amp;${ADDED}">`],
  ['a fragment', '<a href="https://a.test/?a=1#top">', `<a href="https://a.test/?a=1&amp;${ADDED}#top">`],
  ['a query that ends early', '<a href="https://a.test/?">', `<a href="https://a.test/?${ADDED}">`],
  ['an entity before a fragment', '<a href="https://a.test/&#97;#b">', `<a href="https://a.test/&#97;?${ADDED}#b">`],
  ['a fragment as an entity', '<a href="https://a.test/&#35;b">', `<a href="https://a.test/?${ADDED}&#35;b">`],
  ['single quotes', "<a href='https://a.test/'>", `<a href='https://a.test/?${ADDED}'>`],
  ['no quotes', '<a href=https://a.test/>', `<a href="https://a.test/?${ADDED}">`],
  ['an area of an image', '<area href="https://a.test/">', `<area href="https://a.test/?${ADDED}">`],
  [
    'a placeholder in the query',
    '<a href="https://a.test/?i={{id}}">',
    `<a href="https://a.test/?i=a%26b&amp;${ADDED}">`,
  ],
])('adds the parameters to %s', (_name, before, after) => {
  expect(withUtm(before)).toBe(after);
});

test.each([
  ['mailto', '<a href="mailto:a@a.test">'],
  ['tel', '<a href="tel:+49">'],
  ['a fragment of the mail', '<a href="#top">'],
  ['an unsubscribe link', '<a href="https://a.test/unsubscribe?u=1">'],
  ['an image', '<img src="https://a.test/a.png">'],
  ['a link that opts out of tracking', '<a data-track="off" href="https://a.test/">'],
  ['a link that is already tagged', '<a href="https://a.test/?UTM_Source=x&amp;utm_medium=&amp;b">'],
])('leaves %s as it is', (_name, html) => {
  expect(withUtm(html)).toBe(html);
});

test('keeps a parameter that a link has, and adds the others', () => {
  expect(withUtm('<a href="https://a.test/?utm_source=mine">')).toBe(
    '<a href="https://a.test/?utm_source=mine&amp;utm_medium=email">',
  );
});

test('leaves links with tags in them as they are', () => {
  const html = '<a href="https://a.example/{% if a %}?b{% endif %}">x</a>';
  expect(sourceOf(addUtm(parseTemplate(html, 'html'), { utm_source: 'x' }))).toBe(html);
});

test('leaves links that start with a placeholder as they are', () => {
  expect(withUtm('<a href="{{site}}">')).toBe('<a href="https://shop.test/?x=1#top">');
  expect(withUtm('<a href="{{unsubscribe_url}}">')).toBe('<a href="https://u.test/">');
});

test('values are encoded, and none are added when none are given', () => {
  const template = parseTemplate('<a href="https://a.test/">', 'html');
  expect(renderTemplate(addUtm(template, { utm_term: `a&b="c"'d#` }), {})).toBe(
    '<a href="https://a.test/?utm_term=a%26b%3D%22c%22%27d%23">',
  );
  expect(addUtm(template, { utm_source: '', utm_medium: null })).toBe(template);
});

test('tracked links lead to the target with its parameters', () => {
  const html = addUtm(parseTemplate('<a href="https://a.test/?a=1#b">x</a><a href=https://b.test/>y</a>', 'html'), UTM);
  const { links } = trackHtml(html, { opens: false, clicks: true }, 'https://t.test');
  expect(links).toEqual([
    'https://a.test/?a=1&utm_source=news%20letter&utm_medium=email#b',
    'https://b.test/?utm_source=news%20letter&utm_medium=email',
  ]);
});

test('tracked links lead to URLs with braces in them', () => {
  const query = '?q={%22a%22:{{b}}}';
  const literal = `<a href="https://a.test/${query}">x</a>`;
  const { links } = trackHtml(
    { format: 'html', source: literal, statics: [literal], slots: [], problems: [] },
    { opens: false, clicks: true },
    'https://t.test',
  );
  expect(links.map((link) => targetOf(link, undefined))).toEqual([`https://a.test/${query}`]);

  const personal = parseTemplate(`<a href="https://a.test/{% raw %}${query}{% endraw %}&amp;i={{id}}">`, 'html');
  const tracked = trackHtml(personal, { opens: false, clicks: true }, 'https://t.test');
  const message = 'eml_01jd3zzzzzzzzzzzzzzzzzzzzz';
  const [, sealed = ''] = /\.0\.([\w-]+)"/.exec(renderTemplate(tracked.html, tracked.valuesFor(message, VALUES))) ?? [];
  const values = unsealValues(message, 0, sealed);
  expect(tracked.links.map((link) => targetOf(link, values))).toEqual([`https://a.test/${query}&i=a%26b`]);
});
