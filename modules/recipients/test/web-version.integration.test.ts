import { newId, pool } from '@postroom/platform';
import { testApi } from '@postroom/testkit';
import { storeLinks } from '@postroom/tracking';
import { unsubscribeUrl, webVersionUrl } from '@postroom/unsubscribe';
import { beforeAll, expect, test } from 'vitest';

/** The address of the test gateway; links use the public URL. */
let origin = '';
beforeAll(async () => {
  origin = (await testApi()).url;
});

const HTML = `<body><p>Hello {{name|you}} of {{city|nowhere}}</p><script>alert(1)</script>
  <a href="https://shop.test/?a=1">Shop</a> <a href="{{view_in_browser_url}}">View in browser</a></body>`;

interface Sent {
  html: string;
  /** Of a campaign, or of a journey. */
  by: 'campaign' | 'journey';
}

/** A contact, and a message that was sent to it, with the address of its web version. */
async function sent({ html, by }: Sent = { html: HTML, by: 'campaign' }) {
  const api = await testApi();
  const { projectId } = api;
  await api.post('/v1/custom-fields', { key: 'city', label: 'City', type: 'text' });
  const contact = await api.contact('ada@mail.test');
  await api.patch(`/v1/contacts/${contact.id}`, { name: 'Ada & Co', custom_fields: { city: 'Rome' } });
  const [campaignId, messageId] = [newId('cmp'), newId('eml')];
  if (by === 'campaign')
    await pool.query(
      `INSERT INTO campaigns (id, project_id, name, from_name, from_email, html, status, recipient_count, accepted_count, updated_at)
       VALUES ($1, $2, 'News', 'Acme', 'news@example.com', $3, 'completed', 1, 1, now())`,
      [campaignId, projectId, html],
    );
  await pool.query(
    `INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state, needs_consent)
     VALUES ($1, $2, $3, $4, 'ada@mail.test', 'accepted', $3::text IS NULL)`,
    [messageId, projectId, by === 'campaign' ? campaignId : null, contact.id],
  );
  if (by === 'journey')
    await pool.query(
      `INSERT INTO message_contents (message_id, "from", "to", html) VALUES ($1, 'news@example.com', '["ada@mail.test"]', $2)`,
      [messageId, html],
    );
  await storeLinks([{ id: by === 'campaign' ? campaignId : messageId, links: ['https://shop.test/?a=1'] }]);
  const url = webVersionUrl(unsubscribeUrl(messageId, { projectId, email: 'ada@mail.test' }));
  const view = origin + new URL(url).pathname;
  const statusOf = async () => (await api.get(`/v1/contacts/${contact.id}`)).body.data.suppressionStatus;
  return { api, contact, messageId, url, view, statusOf };
}

test('the web version of a campaign shows the message as the recipient got it, without scripts', async () => {
  const { url, view } = await sent();
  const page = await fetch(view);
  expect(page.status).toBe(200);
  const html = await page.text();
  expect(html).toContain('Hello Ada &amp; Co of Rome');
  expect(html).toContain(`<a href="${url}">View in browser</a>`);
  expect(html).toContain('Unsubscribe');
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(/^sandbox (?!.*allow-(?:scripts|same-origin|forms))/);
  expect(policy).toContain("default-src 'none'");
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');
  expect(page.headers.get('x-robots-tag')).toContain('noindex');
});

test('links of a web version are tracked as in the message', async () => {
  const { view } = await sent();
  const [tracked = ''] = /\/t\/c\/[^"]+/.exec(await (await fetch(view)).text()) ?? [];
  const click = await fetch(origin + tracked, { redirect: 'manual' });
  expect(click.headers.get('location')).toBe('https://shop.test/?a=1');
});

test('the web version of mail of a journey is the content that was sent', async () => {
  const { view } = await sent({
    html: '<p>Hello {{name}}, <a href="https://shop.test/?a=1">Shop</a></p>',
    by: 'journey',
  });
  const html = await (await fetch(view)).text();
  expect(html).toContain('Hello {{name}}');
  expect(html).toMatch(/\/t\/c\//);
});

test('a POST to a web version is refused and unsubscribes no one', async () => {
  const { view, statusOf } = await sent();
  const reply = await fetch(view, { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) });
  expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  expect(await statusOf()).toBe('none');
});

test('there is no web version of a forged link, a deleted message, or one to an erased person', async () => {
  const { api, contact, messageId, view } = await sent();
  expect((await fetch(view.replace(/.{4}\/view$/, 'AAAA/view'))).status).toBe(404);
  expect((await fetch(`${origin}/u/x/view`)).status).toBe(404);
  expect((await fetch(view)).status).toBe(200);
  await api.delete(`/v1/contacts/${contact.id}`);
  expect(await (await fetch(view)).text()).toContain('Hello you of nowhere');
  await pool.query(`UPDATE messages SET email = 'erased-1@erased.invalid' WHERE id = $1`, [messageId]);
  expect((await fetch(view)).status).toBe(404);
  const other = await sent();
  await pool.query('DELETE FROM messages WHERE id = $1', [other.messageId]);
  const gone = await fetch(other.view);
  expect([gone.status, await gone.text()]).toEqual([404, expect.stringContaining('This email is not available')]);
});

test('the web version of a message that can no longer be rendered is not available', async () => {
  const { view } = await sent({
    html: '{% for i in (1..99999) %}{% for j in (1..999) %}x{% endfor %}{% endfor %}',
    by: 'campaign',
  });
  expect((await fetch(view)).status).toBe(404);
});

test('the link of a test email leads to a page that says so', async () => {
  expect(await (await fetch(`${origin}/u/test/view`)).text()).toContain(
    'In a real email it shows the email in the browser.',
  );
});

test('a link that is followed again and again gets a project no more than its share of the gateway', async () => {
  const { view } = await sent({ html: '{% for i in (1..5000) %}{{name}}{% endfor %}', by: 'campaign' });
  const replies = await Promise.all(Array.from({ length: 300 }, async () => fetch(view)));
  const refused = replies.filter(({ status }) => status !== 200);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThan(replies.length);
  for (const { status, headers } of refused) expect([status, headers.has('retry-after')]).toEqual([429, true]);
});
