import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';

const MJML = `<mjml>
  <mj-body>
    <mj-section>
      <mj-column>
        <mj-text>Hello {{name|there}}</mj-text>
        <mj-button href="https://example.com/{{name|all}}">Read</mj-button>
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>`;

const within = (inside: string) => MJML.replace('<mj-text>Hello {{name|there}}</mj-text>', inside);

test('an MJML template is sent as compiled HTML; its source is kept, and placeholders survive', async () => {
  const api = await testApi();
  const { status, body } = await api.post('/v1/templates', { name: 'Welcome', body: MJML, format: 'mjml' });
  expect(status, JSON.stringify(body)).toBe(201);
  expect(body.data).toMatchObject({ format: 'mjml', source: MJML });
  expect(body.data.body).toContain('<!doctype html>');
  expect(body.data.body).toContain('Hello {{name|there}}</div>');
  expect(body.data.body).toContain('href="https://example.com/{{name|all}}"');
  expect(body.data.body).not.toContain('mj-text');
});

test('MJML is returned byte for byte as submitted, and can be written back', async () => {
  const api = await testApi();
  const source = `\r\n${MJML.replaceAll('\n', '\r\n').replace('Hello', '  Zoë 🐘\t&amp; <!-- mine --> ')}\n `;
  const template = (await api.post('/v1/templates', { name: 'Welcome', body: source, format: 'mjml' })).body.data;
  const path = `/v1/templates/${template.id}`;
  const read = async () => (await api.get(path)).body.data;
  expect(await read()).toMatchObject({ format: 'mjml', source, body: template.body });
  const { name, subject, body, format } = await read();
  const written = await api.patch(path, { name, subject, body, format });
  expect([written.status, written.body.data]).toEqual([200, template]);
  expect((await api.get(`${path}/versions`)).body.data).toMatchObject([{ number: 1, format: 'mjml', source }]);

  const campaign = (await api.post('/v1/campaigns', { name: 'News', html: source, format: 'mjml' })).body.data;
  expect((await api.get(`/v1/campaigns/${campaign.id}`)).body.data).toMatchObject({ format: 'mjml', source });
  const again = await api.patch(`/v1/campaigns/${campaign.id}`, { html: campaign.html, format: 'mjml' });
  expect([again.status, again.body.data]).toMatchObject([200, { html: campaign.html, format: 'mjml', source }]);
});

test('compiled MJML loads nothing from elsewhere', async () => {
  const api = await testApi();
  const { body } = await api.post('/v1/templates', { name: 'Quiet', body: MJML, format: 'mjml' });
  expect(body.data.body).not.toMatch(/<link|@import|googleapis|<script/i);
});

test('an MJML problem names line and tag, and nothing is saved', async () => {
  const api = await testApi();
  const messages = async (source: string) => {
    const { status, body } = await api.post('/v1/templates', { name: 'Wrong', body: source, format: 'mjml' });
    expect(status).toBe(400);
    return body.error.details.map(({ field, message }: { field: string; message: string }) => `${field}: ${message}`);
  };
  expect(await messages(within('<mj-nope>x</mj-nope>'))).toEqual([expect.stringMatching(/^body: line 5, mj-nope: /)]);
  expect(await messages(within('<mj-text colour="red">x</mj-text>'))).toEqual([
    expect.stringMatching(/^body: line 5, mj-text: .*colour/),
  ]);
  expect(await messages('<p>Hello</p>')).toEqual([expect.stringMatching(/^body: Malformed MJML/)]);
  expect(await messages(within('<mj-text>Hello</mj-txt>'))).toEqual([
    'body: line 5, mj-text: is not closed; </mj-txt> comes in line 5',
  ]);
  expect(await messages(MJML.replace('</mj-column>', ''))).toEqual([
    'body: line 4, mj-column: is not closed; </mj-section> comes in line 8',
  ]);
  expect(await messages(MJML.replace('</mjml>', ''))).toEqual(['body: line 1, mjml: is not closed']);
  expect(await messages(`</mj-text>${MJML}`)).toEqual(['body: line 1, mj-text: is closed here, but was not opened']);
  expect(await messages(within('<mj-text color="red>x</mj-text>'))).toHaveLength(1);
  expect(await messages('<mj-a '.repeat(30_000))).toEqual(['body: line 1, mj-a: is not terminated']);
  // Compiled, they would take more memory than a process of the pool may have.
  const carousel = (images: number) =>
    within(`<mj-carousel>${'<mj-carousel-image src="a.png"/>'.repeat(images)}</mj-carousel>`);
  expect(await messages(carousel(7_900))).toEqual(['body: line 5, mj-carousel-image: there may be at most 200']);
  expect((await api.get('/v1/templates')).body.data).toEqual([]);
  const { status } = await api.post('/v1/templates', { name: 'Shows', body: carousel(20), format: 'mjml' });
  expect(status).toBe(201);
});

test('an invalid placeholder is located in the MJML, or else in the compiled HTML', async () => {
  const api = await testApi();
  const message = async (source: string) =>
    (await api.post('/v1/templates', { name: 'Wrong', body: source, format: 'mjml' })).body.error.details[0].message;
  expect(await message(within('<mj-text>Hello {{name</mj-text>'))).toMatch(/^line 5, column 24: .*not closed/);
  expect(await message(within('<mj-text>{{a b}}</mj-text><mj-text>{{a b}}</mj-text>'))).toMatch(
    /^in the compiled HTML/,
  );
});

test('well-formed MJML is accepted: comments, values with ">", self-closing tags', async () => {
  const api = await testApi();
  const body = within('<!-- <mj-text> --><mj-spacer height="8px" /><mj-text css-class="a>b"><b>Hello</mj-text>');
  const reply = await api.post('/v1/templates', { name: 'Fine', body, format: 'mjml' });
  expect(reply.status, JSON.stringify(reply.body)).toBe(201);
});

test('checking a body reports problems by line and column, and saves nothing', async () => {
  const api = await testApi();
  const check = async (body: string, format: string) =>
    (
      await api.graphql(
        `query ($body: String!, $format: ContentFormat!) {
          contentCheck(body: $body, format: $format) { html problems { line column message } }
        }`,
        { body, format },
      )
    ).body.data.contentCheck;
  expect(await check(within('<mj-nope>x</mj-nope>'), 'mjml')).toEqual({
    html: null,
    problems: [{ line: 5, column: null, message: expect.stringMatching(/^mj-nope: /) }],
  });
  expect(await check('<p>\n Hello {{name</p>', 'html')).toEqual({
    html: null,
    problems: [{ line: 2, column: 8, message: expect.stringMatching(/not closed/) }],
  });
  expect(await check('<p>Hello</p>', 'mjml')).toEqual({
    html: null,
    problems: [{ line: null, column: null, message: expect.stringMatching(/^Malformed MJML/) }],
  });
  const { html, problems } = await check(MJML, 'mjml');
  expect(problems).toEqual([]);
  expect(html).toContain('Hello {{name|there}}');
  expect((await api.get('/v1/templates')).body.data).toEqual([]);
});

test('MJML cannot read files of the server', async () => {
  const api = await testApi();
  for (const type of ['', ' type="html"', ' type="css"']) {
    const source = within(`<mj-include path="/etc/passwd"${type} />`);
    const { status, body } = await api.post('/v1/templates', { name: 'Thief', body: source, format: 'mjml' });
    expect(status).toBe(400);
    expect(body.error.message).toContain('line 5, mj-include');
  }
});

test('a body without a format is HTML, even when it replaces MJML; a format without a body is rejected', async () => {
  const api = await testApi();
  const { id } = (await api.post('/v1/templates', { name: 'Both', body: MJML, format: 'mjml' })).body.data;
  expect((await api.patch(`/v1/templates/${id}`, { format: 'html' })).status).toBe(400);
  expect((await api.patch(`/v1/templates/${id}`, { name: 'Renamed' })).body.data).toMatchObject({
    format: 'mjml',
    source: MJML,
  });
  const { data } = (await api.patch(`/v1/templates/${id}`, { body: '<p>Hello</p>' })).body;
  expect(data).toMatchObject({ body: '<p>Hello</p>', format: 'html', source: null });
});

test('MJML without its format is refused, because its tags mean nothing in HTML', async () => {
  const api = await testApi();
  const template = (await api.post('/v1/templates', { name: 'News', body: MJML, format: 'mjml' })).body.data;
  const campaign = (await api.post('/v1/campaigns', { name: 'News', html: MJML, format: 'mjml' })).body.data;
  const message = expect.stringMatching(/^line \d, mjml: belongs to MJML, so the format must be mjml$/);
  for (const source of [MJML, `\uFEFF<?xml version="1.0"?>\n${MJML}`, MJML.replace('<mjml>', '<MJML lang="en">')]) {
    const edited = await api.patch(`/v1/templates/${template.id}`, { body: source });
    expect(edited.body.error?.details).toEqual([{ field: 'body', message }]);
    const replaced = await api.patch(`/v1/campaigns/${campaign.id}`, { html: source, format: 'html' });
    expect(replaced.body.error?.details).toEqual([{ field: 'html', message }]);
  }
  const about = '<p>Write &lt;mjml&gt;</p><!-- <mjml> -->';
  expect((await api.patch(`/v1/templates/${template.id}`, { body: about })).status).toBe(200);
});

test('a campaign may also be written in MJML', async () => {
  const api = await testApi();
  const { status, body } = await api.post('/v1/campaigns', { name: 'News', html: MJML, format: 'mjml' });
  expect(status, JSON.stringify(body)).toBe(201);
  expect(body.data).toMatchObject({
    format: 'mjml',
    source: MJML,
    html: expect.stringContaining('Hello {{name|there}}'),
  });
  const wrong = await api.patch(`/v1/campaigns/${body.data.id}`, { html: within('<mj-nope />'), format: 'mjml' });
  expect(wrong.body.error.details).toEqual([{ field: 'html', message: expect.stringMatching(/^line 5, mj-nope/) }]);
  const plain = await api.patch(`/v1/campaigns/${body.data.id}`, { html: '<p>Hello</p>' });
  expect(plain.body.data).toMatchObject({ format: 'html', source: null, html: '<p>Hello</p>' });
});

test('tags of templates work in MJML, and one that the compiler would drop is refused', async () => {
  const api = await testApi();
  let number = 0;
  const post = (body: string) => api.post('/v1/templates', { name: `Logic ${++number}`, body, format: 'mjml' });
  const text = '{% if count > 3 %}<b>many</b>{% endif %}';
  const { status, body } = await post(within(`<mj-text>${text}</mj-text>`));
  expect(status, JSON.stringify(body)).toBe(201);
  expect(body.data.body).toContain(text);
  const raw = (tag: string) => `<mj-raw>${tag}</mj-raw>`;
  const wrapped = await post(within(`${raw('{% if a %}')}<mj-text>x</mj-text>${raw('{% endif %}')}`));
  expect(wrapped.status, JSON.stringify(wrapped.body)).toBe(201);
  const bare = await post(within('{% if a %}<mj-text>x</mj-text>{% endif %}'));
  expect(bare.status).toBe(400);
  expect(bare.body.error.details).toEqual([
    { field: 'body', message: 'line 5, {% if a %}: write tags between elements as <mj-raw>{% if a %}</mj-raw>' },
  ]);
});
