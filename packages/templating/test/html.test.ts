import { expect, test } from 'vitest';
import { parseTemplate, renderTemplate } from '../src/index.ts';

const html = (source: string, values = {}) => {
  const template = parseTemplate(source, 'html');
  expect(template.problems).toEqual([]);
  return renderTemplate(template, values);
};
const NASTY = `<script>alert("1")</script> & 'x'`;

test('values are escaped in text, attributes, titles and comments', () => {
  const safe = '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;';
  expect(html('<p>{{a}}</p>', { a: NASTY })).toBe(`<p>${safe}</p>`);
  expect(html(`<p title="{{a}}">`, { a: NASTY })).toBe(`<p title="${safe}">`);
  expect(html(`<p title='x {{a}}'>`, { a: NASTY })).toBe(`<p title='x ${safe}'>`);
  expect(html('<title>{{a}}</title>', { a: NASTY })).toBe(`<title>${safe}</title>`);
  expect(html('<!-- {{a}} -->', { a: '--> <b>' })).toBe('<!-- --&gt; &lt;b&gt; -->');
});

test('a default is escaped like a value', () => {
  expect(html('<p>{{a|<b>you</b>}}</p>')).toBe('<p>&lt;b&gt;you&lt;/b&gt;</p>');
});

test.each([
  ['javascript:alert(1)'],
  ['JaVaScRiPt:alert(1)'],
  [' \u0001javascript:alert(1)'],
  ['java\nscript:alert(1)'],
  ['java\tscript:alert(1)'],
  ['\u00a0javascript:alert(1)'],
  ['vbscript:x'],
  ['data:text/html,<script>'],
  ['file:///etc/passwd'],
])('a link cannot become %j', (value) => {
  expect(html('<a href="{{url}}">', { url: value })).toBe('<a href="#">');
  expect(html('<img src=" {{url}}">', { url: value })).toBe('<img src=" #">');
});

test('a link keeps a web address unchanged', () => {
  const url = 'https://example.com/ü a?x=1&y=%20%zz#"top"';
  expect(html('<a href="{{url}}">', { url })).toBe(
    '<a href="https://example.com/%C3%BC%20a?x=1&amp;y=%20%25zz#%22top%22">',
  );
  expect(html('<a href="{{url}}">', { url: 'mailto:ada@example.com' })).toBe('<a href="mailto:ada@example.com">');
  expect(html('<a href="{{url}}">', { url: '/pricing?a=b:c' })).toBe('<a href="/pricing?a=b:c">');
});

test('inside a link a value is encoded, and stays in its part', () => {
  const a = 'a/b?c=d&e#f "x" <é>';
  expect(html('<a href="https://example.com/{{a}}">', { a })).toBe(
    '<a href="https://example.com/a/b%3Fc%3Dd%26e%23f%20%22x%22%20%3C%C3%A9%3E">',
  );
  expect(html('<a href="https://example.com/?q={{a}}">', { a })).toBe(
    '<a href="https://example.com/?q=a%2Fb%3Fc%3Dd%26e%23f%20%22x%22%20%3C%C3%A9%3E">',
  );
  expect(html('<a href="{{base}}&to={{a}}">', { base: 'https://r.example/?x=1', a: 'b:c/d' })).toBe(
    '<a href="https://r.example/?x=1&to=b%3Ac%2Fd">',
  );
  expect(html('<a href="mailto:{{a}}">', { a: 'ada+news@example.com' })).toBe('<a href="mailto:ada+news@example.com">');
  expect(html('<a href="tel:{{a}}">', { a: '+49 30 1' })).toBe('<a href="tel:+49%2030%201">');
});

test('two adjacent values cannot form a scheme', () => {
  expect(html('<a href="{{a}}{{b}}">', { a: 'javascript', b: ':alert(1)' })).toBe('<a href="javascript%3Aalert(1)">');
});

test('a style accepts only words, numbers and colors', () => {
  const values = { a: 'red; background: url(https://evil.example/x)</style>' };
  expect(html('<p style="color: {{a}}">', values)).toBe('<p style="color: red background urlhttpsevil.examplexstyle">');
  expect(html('<style>p { color: {{a}} }</style><p>{{b}}</p>', { a: '#ff0000', b: '<' })).toBe(
    '<style>p { color: #ff0000 }</style><p>&lt;</p>',
  );
});

test('conditional comments are markup, as Outlook reads them', () => {
  const source = '<!--[if mso]><v:roundrect href="{{url}}"><![endif]--><a href="{{url}}">';
  expect(html(source, { url: 'javascript:x' })).toBe('<!--[if mso]><v:roundrect href="#"><![endif]--><a href="#">');
  expect(html('<!--><a href="{{url}}">', { url: 'javascript:x' })).toBe('<!--><a href="#">');
  expect(html('<!-- a --!><a href="{{url}}">', { url: 'javascript:x' })).toBe('<!-- a --!><a href="#">');
});

test.each([
  ['<script>var a = "{{a}}"</script>', 'A script'],
  ['<a onclick="x({{a}})">', 'runs code'],
  ['<iframe srcdoc="{{a}}">', 'runs code'],
  ['<a {{a}}>', 'quoted attribute value'],
  ['<a data-{{a}}="x">', 'quoted attribute value'],
  ['<{{a}}>', 'quoted attribute value'],
  ['</{{a}}>', 'quoted attribute value'],
  ['<a href={{a}}>', 'quotes'],
  ['<a href=x{{a}}>', 'quotes'],
  ['<a href="javascript:x({{a}})">', '"javascript:"'],
  ['<a href="java&#115;cript&colon;x({{a}})">', '"javascript:"'],
])('%s is a problem, and shows no value', (source, words) => {
  const template = parseTemplate(source, 'html');
  expect(template.problems[0]?.message).toContain(words);
  expect(renderTemplate(template, { a: 'VALUE' })).not.toContain('VALUE');
});

test('a placeholder cannot set the scheme of a link', () => {
  for (const source of ['<a href="{{a}}:alert(1)">', '<a href="{{a}}script&#58;alert(1)">']) {
    expect(parseTemplate(source, 'html').problems[0]).toMatchObject({ position: 9, line: 1, column: 10 });
  }
  expect(parseTemplate('<a href="{{a}}/b:c">', 'html').problems).toEqual([]);
});

test('a tag after a value is parsed as a tag', () => {
  expect(html('{{a}}<a class=x href = "{{u}}" title="{{a}}">{{a}}</a>', { a: '"', u: 'javascript:' })).toBe(
    '&quot;<a class=x href = "#" title="&quot;">&quot;</a>',
  );
});

test('no value breaks out of any context', () => {
  const source = `<title>{{v}}</title><!-- {{v}} --><a href="{{v}}" title='{{v}}' style="a:{{v}};b:url({{v}})">{{v}}</a><img src="https://x/{{v}}?{{v}}">`;
  const template = parseTemplate(source, 'html');
  const tags = (markup: string) => markup.match(/<[!/]?[a-z-]+/gi);
  const alphabet = [...`<>"'&;:/\\-= ()`, '\n', '\0', '\ud83d', 'é', '😀', 'javascript:', '-->', '</title>', 'onload='];
  let seed = 7;
  const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
  for (let round = 0; round < 2000; round++) {
    const v = Array.from({ length: 1 + random(12) }, () => alphabet[random(alphabet.length)]).join('');
    const out = renderTemplate(template, { v });
    expect(tags(out), v).toEqual(tags(source));
    expect(out.match(/["']/g), v).toHaveLength(8);
    expect(out, v).toMatch(/;b:url\([^"'()*\\\s]*\)">/);
    expect(out.toLowerCase(), v).not.toMatch(/href="\s*(java|vb)script:/);
    expect(out.isWellFormed(), v).toBe(true);
  }
});

test.each([
  ['no quotes', '"', ''],
  ['single quotes', '"', "'"],
  ['double quotes', "'", '"'],
  ['quotes that are entities', '"', '&quot;'],
])('a URL in a style is shown as in a link, in %s', (_name, attribute, quote) => {
  const source = `<td style=${attribute}background:#fff URL( ${quote}{{u}}${quote} )${attribute}>`;
  expect(html(source, { u: 'https://cdn.test/a b.png?w=1&h=2' })).toBe(
    source.replace('{{u}}', 'https://cdn.test/a%20b.png?w=1&amp;h=2'),
  );
  expect(html(source, { u: `https://cdn.test/');"x:\\*/` })).toBe(
    source.replace('{{u}}', 'https://cdn.test/%27%29;%22x:%5C%2A/'),
  );
  expect(html(source, { u: 'javascript:alert(1)' })).toBe(source.replace('{{u}}', '#'));
});

test('what a style accepts is decided by what stands right before the value in its own branch', () => {
  const values = { v: 'https://a.test/;b:c' };
  for (const start of ['x:url(a/', 'x:my-url(', 'x:url(&#39;{{none}}', 'x:{% if a %}url({% endif %}', 'x:"url(" '])
    expect(html(`<p style='${start}{{v}}'>`, values)).toMatch(/httpsa.testbc'>$/);
  expect(html(`<p style="{% if a %}x:url({% else %}{{v}}{% endif %}">`, values)).toBe('<p style="httpsa.testbc">');
  expect(html(`<p style="x:url("><b style="{{v}}">`, values)).toBe('<p style="x:url("><b style="httpsa.testbc">');
});

test('a value in a link is encoded once, with or without a filter for it', () => {
  const link = '<a href="https://a.test/{{ name | url_encode }}?n={{name}}&amp;f={{ name | url_encode }}">';
  const html = `${link}<a href="mailto:a@b.test?subject={{ none | default: "x y" | url_encode }}">{{ name | url_encode }}`;
  expect(renderTemplate(parseTemplate(html, 'html'), { name: 'Ä/b c' })).toBe(
    '<a href="https://a.test/%C3%84%2Fb%20c?n=%C3%84%2Fb%20c&amp;f=%C3%84%2Fb%20c">' +
      '<a href="mailto:a@b.test?subject=x%20y">%C3%84%2Fb+c',
  );
});

test('a value that was assigned with url_encode is encoded once in a link', () => {
  const source =
    '{% assign q = name | url_encode %}<a href="https://a.test/{{q}}?q={{ q }}">{{q}}</a>' +
    '{% assign q = name %}<a href="https://a.test/?q={{q}}">x</a>' +
    '{% assign p = name | url_encode | upcase %}<a href="https://a.test/?q={{p}}">y</a>';
  const name = `Ä/b c+"100%"'`;
  expect(renderTemplate(parseTemplate(source, 'html'), { name })).toBe(
    '<a href="https://a.test/%C3%84%2Fb%20c%2B%22100%25%22%27?q=%C3%84%2Fb%20c%2B%22100%25%22%27">%C3%84%2Fb+c%2B%22100%25%22&#39;</a>' +
      '<a href="https://a.test/?q=%C3%84%2Fb%20c%2B%22100%25%22%27">x</a>' +
      '<a href="https://a.test/?q=%25C3%2584%252FB%2BC%252B%2522100%2525%2522%27">y</a>',
  );
});

test('line breaks of a value are kept in the body of a mailto link, and nowhere else in links', () => {
  const show = (source: string) => renderTemplate(parseTemplate(source, 'html'), { v: 'a\r\nb\n\nc', n: 'x' });
  for (const [before, after] of [
    ['mailto:a@b.test?body=', '%0D%0A'],
    ['mailto:a@b.test?subject={{n}}&amp;body=Hi {{n}}, ', '%0D%0A'],
  ] as const)
    expect(show(`<a href="${before}{{v}}">`)).toContain(`a${after}b${after}${after}c">`);
  for (const before of [
    'mailto:a@b.test?body=x&subject=',
    'mailto:',
    'https://a.test/?body=',
    'https://a.test/mail?nobody=',
  ])
    expect(show(`<a href="mailto:?body=x"></a><a href="${before}{{v}}">`)).toContain('a%20b%20c">');
});
