import { Liquid } from 'liquidjs';
import { expect, test } from 'vitest';
import {
  missing,
  parseTemplate,
  renderForRecipient,
  renderTemplate,
  sourceOf,
  unconditionalSource,
  variablesOf,
} from '../src/index.ts';

const VALUES = {
  name: 'ada lovelace',
  nothing: null,
  no: false,
  yes: true,
  zero: 0,
  text: '  Some text, here  ',
  empty_text: '',
  plan: 'pro',
  total: 1234.5,
  count: 3,
  tags: ['b', 'a', 'c', 'a'],
  none: [],
  order: {
    id: 7,
    items: [
      { title: 'Tea', price: 4.5, count: 2 },
      { title: 'Cup', price: 10, count: 1 },
    ],
    'ship-to': { city: 'Paris' },
  },
  date: '2026-11-05T14:03:09Z',
  url: 'https://example.com/?q=a b&c=ü',
};

const text = (source: string, values: Record<string, unknown> = VALUES) => {
  const template = parseTemplate(source, 'text');
  expect(template.problems, source).toEqual([]);
  return renderTemplate(template, values);
};
const html = (source: string, values: Record<string, unknown> = VALUES) => {
  const template = parseTemplate(source, 'html');
  expect(template.problems, source).toEqual([]);
  return renderTemplate(template, values);
};
const problemOf = (source: string, format: 'html' | 'text' = 'text') => parseTemplate(source, format).problems[0];

/** Templates that LiquidJS and we render alike. */
const CORPUS = [
  ...['yes', 'no', 'nothing', 'zero', 'empty_text', 'none', 'missing', 'order', 'order.items', 'order.nope.deep'].map(
    (name) => `{% if ${name} %}A{% else %}B{% endif %}{% unless ${name} %}C{% else %}D{% endunless %}`,
  ),
  ...[
    'plan == "pro"',
    "plan != 'pro'",
    'count > 2',
    'count >= 3',
    'count < 3',
    'count <= 3',
    'total > count',
    'plan contains "r"',
    'plan contains "z"',
    'tags contains "a"',
    'tags contains "z"',
    'missing contains "a"',
    'yes and no or yes',
    'no and no or yes',
    'yes or no and no',
    'not no',
    'not yes or yes',
    'nothing == nil',
    'missing == null',
    'empty_text == empty',
    'none == empty',
    'text == blank',
    'missing == blank',
    'name == empty',
    'tags.size == 4',
    'name.size > 3',
    'order.items[1].title == "Cup"',
    'order["ship-to"].city == "Paris"',
    'tags[-1] == "a"',
    'plan == "pro" and count == 3',
    '"3" == count',
    'yes == true',
    'no == false',
    'plan<"q"',
  ].map((condition) => `{% if ${condition} %}yes{% else %}no{% endif %}`),
  '{% if no %}1{% elsif zero %}2{% elsif yes %}3{% else %}4{% endif %}',
  '{% if no %}1{% elsif nothing %}2{% endif %}!',
  '{% case plan %}{% when "free" %}F{% when "pro", "team" %}P{% else %}O{% endcase %}',
  '{% case plan %} {% when "free" or "pro" %}P{% endcase %}',
  '{% case count %}{% when 1 %}one{% when 3 %}three{% endcase %}',
  '{% case missing %}{% when 1 %}one{% else %}else{% endcase %}',
  '{% for item in order.items %}{{ item.title }}: {{ item.price }}{% if forloop.last == false %}, {% endif %}{% endfor %}',
  '{% for tag in tags %}{{ forloop.index }}/{{ forloop.length }} {{ forloop.index0 }} {{ forloop.rindex }} {{ forloop.rindex0 }} {{ forloop.first }} {{ tag }};{% endfor %}',
  '{% for tag in tags limit: 2 offset: 1 %}{{ tag }}{% endfor %}',
  '{% for tag in tags reversed %}{{ tag }}{% endfor %}',
  '{% for tag in none %}x{% else %}nothing{% endfor %}',
  '{% for tag in tags %}x{% else %}nothing{% endfor %}!',
  '{% for tag in missing %}x{% endfor %}!',
  '{% for i in (1..4) %}{{ i }}{% endfor %}',
  '{% for i in (2..count) %}{{ i }}{% for j in (1..i) %}.{{ j }}{% endfor %} {{ forloop.index }}{% endfor %}',
  '{% for tag in tags %}{% if tag == "a" %}[{{ tag }}]{% else %}{{ tag }}{% endif %}{% endfor %}{{ tag }}',
  '{% for item in order.items %}{% for tag in tags %}{{ item.title }}{{ tag }} {% else %}-{% endfor %}{% else %}-{% endfor %}',
  '{% for c in plan %}<{{ c }}>{% endfor %}',
  '{% assign a = name | upcase %}{{ a }}{% assign a = 5 %}{{ a }}',
  '{% assign sum = 0 %}{% for item in order.items %}{% assign sum = sum | plus: item.price %}{% endfor %}{{ sum }}',
  'a {%- if yes -%}  b  {%- endif -%}  c',
  'a \n {{- name -}} \n b',
  '{% comment %}{{ name }} {% if %} {% endcomment %}x',
  '{% raw %}{{ name }}{% if x %}{% endraw %}',
  ...[
    'name | upcase',
    'name | capitalize',
    '"ABC" | downcase',
    'text | strip',
    'text | lstrip',
    'text | rstrip',
    'name | size',
    'tags | size',
    'nothing | size',
    'tags | join: ", "',
    'tags | join',
    'tags | first',
    'tags | last',
    'tags | sort | join: "-"',
    'tags | uniq | join',
    'tags | reverse | join',
    'order.items | map: "title" | join: "+"',
    'order.items | sum: "price"',
    'name | append: "!" | prepend: "¡"',
    'name | replace: "a", "o"',
    'name | replace_first: "a", "o"',
    'name | remove: "a"',
    'name | split: " " | last',
    '"a,b,,c,," | split: "," | size',
    'name | truncate: 7',
    'name | truncate: 7, ""',
    'plan | truncate: 7',
    'text | truncatewords: 2',
    'total | plus: 1',
    'total | minus: "1.5"',
    'count | times: 2.5',
    'count | divided_by: 2',
    'count | modulo: 2',
    'total | round',
    '1.23456 | round: 2',
    '1.2 | ceil',
    '1.8 | floor',
    '-3 | abs',
    'count | at_least: 5',
    'count | at_most: 2',
    'missing | plus: 2',
    '"x" | plus: 2',
    'missing | default: "d"',
    'empty_text | default: "d"',
    'none | default: "d"',
    'name | default: "d"',
    'missing | default: plan',
    'zero | default: 5',
    'url | url_encode',
    'date | date: "%Y-%m-%d %H:%M:%S"',
    'date | date: "%A %a %B %b %-d %e %j %I %l %p %P %y %u %w %U %q"',
    'date | date: "%d.%m.%Y %H:%M", "Europe/Berlin"',
    'date | date: "%^b %3d %-m"',
    'date | date: "%H:%M %Z", "Europe/Berlin"',
    'date | date: "%N %3N %n|%t|"',
    '"not a date" | date: "%Y"',
    'tags',
    'nothing',
    'order.items[0].title',
    'order.items.first.title',
    'tags.last',
    '"text"',
    '5',
    'yes',
  ].map((output) => `[{{ ${output} }}]`),
];

test.each(CORPUS)('LiquidJS renders the same: %s', async (source) => {
  const engine = new Liquid({ timezoneOffset: 0, jsTruthy: false, ownPropertyOnly: true });
  expect(text(source)).toBe(await engine.parseAndRender(source, VALUES));
});

test('numbers and amounts are formatted for a locale', () => {
  expect(text('{{ total | number }} {{ total | number: 2 }} {{ total | number: 1, "de" }}')).toBe(
    '1,234.5 1,234.50 1.234,5',
  );
  expect(text('{{ total | currency: "EUR" }}|{{ total | currency: "eur", "de" }}')).toBe('€1,234.50|1.234,50\u00a0€');
  expect(text('{{ "12.5" | currency: "USD" }} {{ name | number }} {{ missing | currency: "USD" }}')).toBe(
    '$12.50 ada lovelace ',
  );
});

test('times are UTC unless they have an offset', () => {
  expect(text('{{ "2026-07-01" | date: "%F %R %z", "America/New_York" }}')).toBe('2026-06-30 20:00 -0400');
  expect(text('{{ "2026-07-01T15:00:00Z" | date: "%r %Z" }}')).toBe('03:00:00 PM UTC');
  expect(text('{{ "2026-07-01T10:00:00+02:00" | date: "%R" }} {{ 0 | date: "%c" }}')).toBe(
    '08:00 Thu Jan  1 00:00:00 1970',
  );
});

test('filters never split an emoji', () => {
  const source = '{{ n | truncate: 4, "" }} {{ n | first }} {{ n | last }} {{ n | split: "" | reverse | join: "" }}';
  expect(text(source, { n: '😀😃😄' })).toBe('😀😃 😀 😄 😄😃😀');
  expect(text('{{ n | truncate: 4 }} {{ n | truncate: 5, "…" }}', { n: '😀😃😄' })).toBe('... 😀😃…');
  expect(text('{{ n | first }}{{ n | last }}{{ none | first }}', { n: 'x' })).toBe('xx');
});

test('a default in its short form is kept where no filter of that name could stand', () => {
  expect(text('{{missing|there}} {{missing|first class}} {{missing|date}} {{missing|"size"}}', {})).toBe(
    'there first class date size',
  );
  expect(text('{{ missing | default: dear friend }}', {})).toBe('dear friend');
  expect(text('{{ name | upcase | default: "x" }}{{ missing | upcase | default: "x" }}')).toBe('ADA LOVELACEx');
});

test('values are escaped for their context in branches and loops', () => {
  const values = {
    on: true,
    items: [
      { t: '<b>"x"', u: 'javascript:alert(1)' },
      { t: '&', u: 'https://a.example/?x=1&y' },
    ],
  };
  expect(
    html(
      '<ul>{% for i in items %}<li title="{{ i.t }}">{{ i.t | upcase }} <a href="{{ i.u }}">x</a></li>{% endfor %}</ul>',
      values,
    ),
  ).toBe(
    '<ul><li title="&lt;b&gt;&quot;x&quot;">&lt;B&gt;&quot;X&quot; <a href="#">x</a></li>' +
      '<li title="&amp;">&amp; <a href="https://a.example/?x=1&amp;y">x</a></li></ul>',
  );
  expect(
    html('<a href="{% if on %}{{ u }}{% else %}https://b.example/{% endif %}">', { on: 1, u: 'javascript:x' }),
  ).toBe('<a href="#">');
  expect(html('<a href="https://x.example/?a={% for i in items %}{{ i.t }},{% endfor %}">', values)).toBe(
    '<a href="https://x.example/?a=%3Cb%3E%22x%22,%26,">',
  );
  expect(html('<p {% if on %}style="color:{{ c }}"{% endif %}>', { on: true, c: 'red;x:url(y)' })).toBe(
    '<p style="color:redxurly">',
  );
  expect(html('{% assign a = "<i>" %}{{ a }}{{ "<u>" | append: a }}', {})).toBe('&lt;i&gt;&lt;u&gt;&lt;i&gt;');
  expect(html('{% if a &gt; 3 &nbsp;%}x{% endif %}', { a: 4 })).toBe('x');
});

test.each([
  ['{% if a %}<a href="{% endif %}x">', 'close the quotes'],
  ['{% if a %}<!-- {% endif %} -->', 'close the quotes'],
  ['<a href="x{% if a %}" title="{% endif %}">', 'close the quotes'],
  ['<p title={% if a %}x{% endif %}>', 'only allowed in text'],
  ['<{% if a %}p{% endif %}>', 'only allowed in text'],
  ['<a href="{% if a %}https://x.example/{% endif %}{{ b }}">', 'different parts of the link'],
  ['<a href="{% if a %}{{ b }}{% else %}https{% endif %}:alert(1)">', 'cannot set the scheme'],
  ['<a href="{% for a in b %}{{ a }}{% endfor %}">', 'after the "?"'],
  ['{% if a %}<script>{{ b }}</script>{% endif %}', 'A script'],
])('%s could put a value where it is not escaped for', (source, words) => {
  expect(
    parseTemplate(source, 'html')
      .problems.map(({ message }) => message)
      .join(' '),
  ).toContain(words);
});

test.each([
  ['{% if a %}', '"if" is not closed by "{% endif %}"', 1],
  ['x\n {% endif %}', '"endif" closes nothing', 2],
  ['{% if a %}{% endfor %}{% endif %}', 'cannot close "if"', 11],
  ['{% if a = 1 %}{% endif %}', 'compares with "=="', 1],
  ['{% if a | size > 1 %}{% endif %}', 'no filters', 1],
  ['{% if %}{% endif %}', 'expects a value', 1],
  ['{% if a b %}{% endif %}', 'does not expect "b"', 1],
  ['{% for a of b %}{% endfor %}', 'expects "in"', 1],
  ['{% else %}', 'does not fit here', 1],
  ['{% if a %}{% else %}{% else %}{% endif %}', 'does not fit here', 21],
  ['{% include "x" %}', 'is not a tag', 1],
  ['{% raw %}', 'is not closed', 1],
  ['{% comment %}', 'is not closed', 1],
  ['{% if a', 'not closed by "%}"', 1],
  ['{{ a | nope: 1 }}', 'no filter "nope"', 1],
  ['{{ a | append: "x', 'not closed by "}}"', 1],
  ['{{ a | append: "x }}', 'closing quote', 1],
  ['{{ a | append: "x", "y" }}', 'too many arguments', 1],
  ['{{ a | date: "%Y", "Mars" }}', 'not a time zone', 1],
  ['{{ a | currency: "euro" }}', 'not a currency code', 1],
  ['{{ a | number: 99 }}', '0 to 20', 1],
  [`{{ a ${'| upcase '.repeat(51)}}}`, 'more than 50', 1],
  [`${'{% if a %}'.repeat(21)}${'{% endif %}'.repeat(21)}`, 'at most 20 deep', 201],
])('%s is a problem with its place', (source, words, column) => {
  const problem = problemOf(source);
  expect(problem?.message).toContain(words);
  expect(problem?.column).toBe(column);
});

test('a template with problems can be previewed', () => {
  for (const source of ['{% if a %}x', '{% for a in b %}x{% else %}y', 'x{% endif %}', '{% case a %}{% when %}x']) {
    expect(renderTemplate(parseTemplate(source, 'html'), { a: 1 })).toBeTypeOf('string');
  }
});

test('work, loops and output are bounded', () => {
  const long = 'x'.repeat(100_000);
  const endless = (source: string) => () =>
    renderTemplate(parseTemplate(source, 'text'), { long, items: Array(2000).fill('x') });
  expect(endless('{% for i in (1..9999999999) %}{% endfor %}')).toThrow('more than 1000000 steps');
  expect(endless('{% for i in items %}{% for j in items %}{% endfor %}{% endfor %}')).toThrow(
    'more than 1000000 steps',
  );
  expect(endless('{% for i in items %}{{ long }}{% endfor %}')).toThrow('more than 5000000 characters');
  expect(endless('{% for i in items %}{{ long | upcase | size }}{% endfor %}')).toThrow('more than 1000000 steps');
  expect(endless('{{ long | replace: "x", long }}')).toThrow('more than 100000 pieces');
  expect(endless(`{% assign a = long %}${'{% assign a = a | append: a %}'.repeat(30)}`)).toThrow('more than 1000000');
  expect(endless('{{ items | join: long }}')).toThrow('more than 1000000 characters');
});

const object = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, 1]));
const lists = Array.from({ length: 300 }, (_, i) => Array.from({ length: 300 }, (_unused, j) => (i * 7 + j) % 11));

test.each([
  ['text that shows nothing', '{{ v }}', ' '.repeat(100_000)],
  ['characters that are dropped', '{{ v }}', '\u0001'.repeat(100_000)],
  ['items that show nothing', '{{ v }}', Array(20_000).fill('')],
  ['keys of objects', '{{ v.size }}', object],
  ['keys of objects, compared', '{% if v == empty %}x{% endif %}', object],
  ['members of objects', '{% for k in v limit: 0 %}{% endfor %}', object],
  ['lists in lists', '{% assign x = v | sort %}', lists],
  ['texts in lists', '{{ v | sum }}', Array(1000).fill('1'.repeat(3000))],
  ['arguments of filters', '{{ "now" | date: v }}', `%${'-'.repeat(100_000)}d`],
  ['texts that are compared', '{% if "a" == v %}x{% endif %}', 'a'.repeat(100_000)],
  ['locales', '{% assign l = "en-x-" | append: i %}{% assign x = 5 | number: 2, l %}', undefined],
])('the work of %s is counted', (_what, source, v) => {
  const template = parseTemplate(`{% for i in (1..20000) %}${source}{% endfor %}`, 'subject');
  expect(template.problems).toEqual([]);
  expect(() => renderTemplate(template, { v })).toThrow('more than 1000000 steps');
});

test('long texts are searched as short ones are', () => {
  let seed = 1;
  const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  const word = (length: number) => Array.from({ length }, () => 'aab'[random(3)]).join('');
  const template = parseTemplate(
    '{{ t | split: p | join: "," }};{{ t | replace: p, "x" }};{{ t | replace_first: p, "x" }};{{ t | remove: p }};{% if t contains p %}yes{% endif %}',
    'text',
  );
  for (let i = 0; i < 200; i++) {
    const p = word(1 + random(2)).repeat(100 + random(200));
    const t = [word(random(3)), p, p.slice(random(3)), word(random(4)), i % 2 === 0 ? p : 'b'].join('');
    const pieces = t.split(p);
    while (pieces.at(-1) === '') pieces.pop();
    expect(renderTemplate(template, { t, p })).toBe(
      `${pieces.join(',')};${t.replaceAll(p, 'x')};${t.replace(p, 'x')};${t.replaceAll(p, '')};${t.includes(p) ? 'yes' : ''}`,
    );
  }
});

test('a message of a campaign has less work', () => {
  const template = parseTemplate('{% for i in (1..60000) %}{% endfor %}', 'text');
  expect(renderTemplate(template, {})).toBe('');
  expect(() => renderForRecipient(template, {})).toThrow('more than 50000 steps');
});

test('neither prototypes nor methods can be reached', () => {
  const names = [
    'constructor',
    '__proto__',
    'toString',
    'order.constructor',
    'order.items.constructor',
    'order.items.push',
    'name.length',
  ];
  for (const name of names) expect(text(`{% if ${name} %}x{% endif %}{{ ${name} }}`)).toBe('');
  expect(text('{{ order["__proto__"]["x"] }}{{ order.items | map: "constructor" | join }}').trim()).toBe('');
});

test('names are missing only where they are shown', () => {
  const template = parseTemplate(
    '{{ a }}{% if b %}{{ c }}{% else %}{{ d }}{% endif %}{% for i in list %}{{ i.x }}{% endfor %}{{ e | upcase | default: "x" }}',
    'text',
  );
  expect(missing(template, { list: [{}] })).toEqual(['a', 'd']);
  expect(missing(template, { a: 1, b: true })).toEqual(['c']);
  expect(variablesOf(template)).toEqual(['a', 'b', 'c', 'd', 'list', 'i.x', 'e']);
});

test('a key with a dot is found as before, and before a path', () => {
  expect(text('{{order.id}} {{order.id|x}} {{order.no|x}}', { 'order.id': 5, order: { id: 6 } })).toBe('5 5 x');
});

test('a template is written again as it was, and raw braces stay raw', () => {
  const source = '{% if a == "x" %}{{a|b}}{% else %}{{ a | upcase }}{% endif %}{% raw %}{{a}}{% endraw %}';
  const again = sourceOf(parseTemplate(source, 'text'));
  expect(again).toBe(
    '{% if a == "x" %}{{a | default: "b"}}{% else %}{{a | upcase}}{% endif %}{% raw %}{{a}}{% endraw %}',
  );
  expect(sourceOf(parseTemplate(again, 'text'))).toBe(again);
});

test('what is shown in any case has neither conditions nor comments', () => {
  const source =
    'a{% if x %}{{b}}{% else %}c{% endif %}{% comment %}{{d}}{% endcomment %}{{e}}{% for f in g %}h{% else %}i{% endfor %}j';
  expect(unconditionalSource(parseTemplate(source, 'text'))).toBe('a{{e}}j');
});
