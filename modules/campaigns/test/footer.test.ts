import { expect, test } from 'vitest';
import { withFooter } from '../src/content.ts';

const ADDRESS = 'Acme Ltd, 1 Main Street';
const LINK = '<a href="{{unsubscribe_url}}">Leave</a>';

test.each([
  ['a comment', `<body><p>Hi</p><!-- ${LINK} {{postal_address}} --></body>`],
  ['a condition for Outlook', `<body><p>Hi</p><!--[if mso]>${LINK} ${ADDRESS}<![endif]--></body>`],
  ['a comment in a body with tags', `<body>{% if a %}Hi{% endif %}<!-- ${LINK} ${ADDRESS} --></body>`],
])('a footer is added to a body with its unsubscribe link and address in %s', (_name, html) => {
  const shown = withFooter(html, ADDRESS).replace(/<!--.*?-->/gs, '');
  expect(shown).toContain('{{postal_address}}<br><a href="{{unsubscribe_url}}"');
  expect(shown).toMatch(/<\/p><\/body>$/);
});

test.each([
  '{{ unsubscribe_url }}',
  '{{- unsubscribe_url -}}',
  '{{&nbsp;unsubscribe_url}}',
  '{{unsubscribe_url | escape}}',
])('no second footer is added to a body with its unsubscribe link as %s', (link) => {
  const html = `<body><a href="${link}">Leave</a> ${link.replace('unsubscribe_url', 'postal_address')}</body>`;
  expect(withFooter(html, ADDRESS)).toBe(html);
});

test('no footer is added to a body with both in what all but Outlook show', () => {
  const html = `<body><!--[if !mso]><!-->${LINK} ${ADDRESS}<!--<![endif]--></body>`;
  expect(withFooter(html, ADDRESS)).toBe(html);
});
