import { expect, test } from 'vitest';
import { type ContentInput, fillAll, fillContent } from '../src/fill-content.ts';
import { Problems } from '../src/email-input.ts';
import { renderForProject } from '../src/fill-content-for-project.ts';
import { renderContent } from '../src/render-content.ts';

test('emails rendered together are returned up to a total length, so that no result of a process is too large', () => {
  const long = { subject: null, html: null, text: '{{a}}'.repeat(900), values: { a: 'x'.repeat(5_000) } };
  const lengths = fillAll(Array.from({ length: 5 }, () => long)).map((filled) => filled?.text?.length);
  expect(lengths).toEqual([4_500_000, 4_500_000, 4_500_000, undefined, undefined]);
});

test('a subject is at most 998 characters long after its placeholders are filled in, as before', () => {
  const given = { subject: 'Hello {{name}}', html: null, text: 'Hello' };
  const fill = (name: string) => fillContent({ ...given, values: { name } });
  expect(fill('x'.repeat(992))).toMatchObject({ subject: `Hello ${'x'.repeat(992)}`, problems: [] });
  expect(fill('x'.repeat(993)).problems).toEqual([
    { field: 'subject', message: 'has more than 998 characters with its values filled in' },
  ]);
});

/** Whether a promise settles within this turn of the event loop, in which no other process can answer. */
const isAtOnce = (promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([promise.then(() => true), new Promise<boolean>((resolve) => setImmediate(() => resolve(false)))]);

test('content that is quick to render is rendered at once, other content in another process', async () => {
  const whereRendered = async (given: Partial<ContentInput>, options?: { isOneOfMany: boolean }) => {
    const rendered = renderForProject(
      'prj_1',
      { subject: 'Hello', html: null, text: null, values: null, ...given },
      options,
    );
    if (!(await isAtOnce(rendered))) return 'elsewhere';
    return (await rendered).problems.length === 0 ? 'at once' : 'with problems';
  };
  const [html, values] = ['<p>Hello {{name}}</p>', { name: 'Ada' }];
  expect(await whereRendered({ html, values })).toBe('at once');
  expect(await whereRendered({ html, text: 'Hello {{name}}', values })).toBe('at once');
  expect(await whereRendered({ html, values }, { isOneOfMany: true })).toBe('at once');
  const tagged = '{% if name %}<p>Hello {{name}}</p>{% endif %}';
  expect(await whereRendered({ html: tagged, values }, { isOneOfMany: true })).toBe('elsewhere');
  expect(await whereRendered({ text: 'Hello' }, { isOneOfMany: true })).toBe('at once');
  expect(await whereRendered({ html: '<br>'.repeat(60) })).toBe('elsewhere');
  expect(await whereRendered({ html: 'Hello'.repeat(500) })).toBe('elsewhere');
  // What may be long only after its placeholders are filled in, and what may take many steps.
  const long = { name: 'x'.repeat(3_000) };
  expect(await whereRendered({ html: '{{name}}', values: long })).toBe('at once');
  expect(await whereRendered({ html: '{{name}}'.repeat(200), values: long })).toBe('elsewhere');
  expect(await whereRendered({ text: '{{name}}'.repeat(1_000), values: long })).toBe('elsewhere');
  expect(await whereRendered({ text: '{% for a in list %}{{a}}{% endfor %}', values: { list: [1] } })).toBe(
    'elsewhere',
  );
});

test('text is generated from a long HTML template once, in another process, for all emails that are made from it', async () => {
  const html = `<p>Hello {{name}}</p>${'<p>News of the day</p>'.repeat(1_000)}`;
  const renderOne = async (name: string) => {
    const rendered = renderForProject('prj_1', { subject: 'Hello', html, text: null, values: { name } });
    return { isAtOnce: await isAtOnce(rendered), text: (await rendered).htmlText?.slice(0, 12) };
  };
  expect(await renderOne('Ada')).toEqual({ isAtOnce: false, text: 'Hello Ada\n\nN' });
  expect(await renderOne('Bob')).toEqual({ isAtOnce: true, text: 'Hello Bob\n\nN' });
});

test('text generated from a template is the same as from its filled HTML', async () => {
  const templates = [
    '<h1>Order {{order}}</h1><p>Hello {{name}},</p><p>{{note | default: ""}}</p><p>it is on its way.</p>',
    '<p>{{note | default: ""}}</p><p>Reset it: <a href="{{url}}">{{url}}</a></p>',
    '<a href="{{link}}">Reset your password</a> or <a href="https://example.com/{{order}}?by={{name}}">follow it</a>',
    '<a href="mailto:{{email}}">{{email}}</a> <a href="tel:{{phone}}">{{phone}}</a> <a href="mailto:{{email}}">Us</a>',
    '<a href="{{url}}">{{url}}</a><a href="{{url}}">{{name}}</a>',
    '<a href="https://a.test/{{order}}?n={{phone}}#x">https://a.test/{{order}}?n={{phone}}#x</a> (<a href="https://a.test/{{order}}">{{order}}</a>)',
    '<p>{{email}} &lt;{{email}}&gt;</p><a href="https://a.test/{{order}}">https://a.test/{{name}}</a>',
    '<a href="{{note | default: ""}}">Shop</a> <a href="{{ note | strip }}">here</a>',
    '<table><tr><td>{{name | upcase}}</td><td>{{order}}</td></tr></table><img alt="{{name}}" src="{{url}}">',
    '<style>p { color: {{order}} }</style><title>{{name}}</title><p>{{name}} &lt;{{email}}&gt;</p>',
  ];
  const values = {
    name: 'Ada <b>& Co',
    order: 'A17',
    note: '',
    email: 'ada@example.com',
    phone: '441632960',
    url: 'https://example.com/a?c=1&d=2',
    link: 'https://example.com/a b?c="d"',
  };
  for (const html of templates) {
    const given = { subject: 'Hello', html, text: null, values };
    expect(await renderForProject('prj_1', given), html).toEqual(fillContent(given));
  }
});

test('braces in mail without placeholders are literal, also in the text generated from its HTML', async () => {
  const html = '<p>Write {{name}} or {% if name %}</p>';
  const given = { subject: 'Braces', html, text: null };
  expect(fillContent({ ...given, values: null })).toMatchObject({
    html,
    htmlText: 'Write {{name}} or {% if name %}\n',
  });
  const filled = fillContent({ ...given, html: '<p>{{text}}</p>', values: { text: '{{name}}' } });
  expect(filled).toMatchObject({ htmlText: '{{name}}\n' });
});

test('each email of a batch gets its own content, and one that cannot be rendered fails alone', async () => {
  const isOneOfMany = true;
  const render = (html: string, values: ContentInput['values']) =>
    renderForProject('prj_1', { subject: 'Hello', html, text: null, values }, { isOneOfMany });
  const names = Array.from({ length: 60 }, (_, n) => `User ${n}`);
  const unreadable = render(5 as never, null);
  const rendered = await Promise.all(names.map((name) => render('<p>Hello {{name}}</p>', { name })));
  expect(rendered.map(({ htmlText }) => htmlText)).toEqual(names.map((name) => `Hello ${name}\n`));
  expect((await unreadable).problems).toMatchObject([{ field: 'html' }]);
});

test('text is generated if that of an email is empty, unless there is no HTML', async () => {
  const email = { from: 'a@example.com', to: ['b@example.com'], subject: 'Hello', text: '' };
  const problems = new Problems();
  expect(await renderContent('prj_1', { ...email, html: '<p>Hi</p>' }, problems)).toMatchObject({
    text: null,
    htmlText: 'Hi\n',
  });
  expect(problems.found).toEqual([]);
  await renderContent('prj_1', { ...email, html: '' }, problems);
  expect(problems.found.map(({ field }) => field)).toEqual(['html']);
});
