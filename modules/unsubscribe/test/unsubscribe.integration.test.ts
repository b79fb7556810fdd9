import { newId, pool, sql } from '@postroom/platform';
import { interleave, signedIn, testApi } from '@postroom/testkit';
import { beforeAll, expect, test } from 'vitest';
import { macFor } from '@postroom/platform';
import { testUnsubscribeUrl, unsubscribeUrl } from '../src/unsubscribe-link.ts';

/** The address of the test gateway; links use the public URL. */
let origin = '';
beforeAll(async () => {
  origin = (await testApi()).url;
});

/** A contact, and the unsubscribe link from a campaign message sent to it. */
async function recipient() {
  const api = await testApi();
  const contact = await api.contact('ada@mail.test');
  const [campaignId, messageId] = [newId('cmp'), newId('eml')];
  await pool.query(
    `INSERT INTO campaigns (id, project_id, name, from_name, from_email, status, recipient_count, accepted_count, updated_at)
     VALUES ($1, $2, 'News', 'Acme & <Sons>', 'news@example.com', 'paused', 1, 1, now())`,
    [campaignId, api.projectId],
  );
  await pool.query(
    `INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state) VALUES ($1, $2, $3, $4, 'ada@mail.test', 'accepted')`,
    [messageId, api.projectId, campaignId, contact.id],
  );
  const link =
    origin + new URL(unsubscribeUrl(messageId, { projectId: api.projectId, email: 'ada@mail.test' })).pathname;
  const statusOf = async () => (await api.get(`/v1/contacts/${contact.id}`)).body.data.suppressionStatus;
  return { api, contact, campaignId, messageId, link, statusOf };
}

const ONE_CLICK = { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) };

test('GET shows a page and changes nothing, however often scanners follow the link', async () => {
  const { link, statusOf } = await recipient();
  const page = await fetch(link);
  await fetch(link, { method: 'HEAD' });
  expect(page.status).toBe(200);
  const html = await page.text();
  expect(html).toContain('Acme &amp; &lt;Sons&gt;');
  expect(html).toContain('<form method="post">');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(await statusOf()).toBe('none');
});

test('an unsubscribe that the database refuses for a while gets a page that says to try again', async () => {
  const { api, link, statusOf } = await recipient();
  // As while the project is being moved to another cell.
  await pool.query(
    `CREATE TRIGGER a_moving_test BEFORE INSERT OR UPDATE ON suppressions FOR EACH ROW WHEN (NEW.project_id = '${api.projectId}')
     EXECUTE FUNCTION refuse_moving_project('${api.projectId}')`,
  );
  const reply = await fetch(link, ONE_CLICK).finally(() => pool.query('DROP TRIGGER a_moving_test ON suppressions'));
  expect([reply.status, reply.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8']);
  expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await reply.text()).toContain('This project is being moved or deleted. Try again in a moment.');
  expect((await fetch(link, ONE_CLICK)).status).toBe(200);
  expect(await statusOf()).toBe('unsubscribed');
});

test('POST unsubscribes with one click: the address is suppressed, the campaign counts it and contact.unsubscribed is emitted, once', async () => {
  const { api, contact, campaignId, link, statusOf } = await recipient();
  const replies = await Promise.all([fetch(link, ONE_CLICK), fetch(link, ONE_CLICK)]);
  expect(replies.map(({ status, redirected }) => [status, redirected])).toEqual([
    [200, false],
    [200, false],
  ]);
  expect(await statusOf()).toBe('unsubscribed');
  expect((await api.get(`/v1/campaigns/${campaignId}`)).body.data.engagement.unsubscribed).toBe(1);
  expect(await api.events('contact.unsubscribed')).toMatchObject([
    { data: { contact_id: contact.id, email: 'ada@mail.test' } },
  ]);
});

test('in the history of the contact, an unsubscribe by a link is one event, with its message', async () => {
  const { api, contact, messageId, link } = await recipient();
  await fetch(link, ONE_CLICK);
  const query = 'query ($id: ID!) { contact(id: $id) { activity { type messageId } } }';
  const { activity } = (await api.graphql(query, { id: contact.id })).body.data.contact;
  expect(activity).toEqual([
    { type: 'contact.unsubscribed', messageId },
    { type: 'contact.created', messageId: null },
  ]);
});

test('a POST with a body longer than any form unsubscribes too, and its rest is not read', async () => {
  const { link, statusOf } = await recipient();
  let sent = 0;
  const body = new ReadableStream({
    pull(controller) {
      sent += 65_536;
      if (sent > 60_000_000) controller.close();
      else controller.enqueue(new Uint8Array(65_536));
    },
  });
  // The connection may close before the client has read the response.
  const status = await fetch(link, { method: 'POST', body, duplex: 'half' } as RequestInit).then(
    (page) => page.status,
    () => 'closed',
  );
  expect([200, 'closed']).toContain(status);
  await expect.poll(statusOf).toBe('unsubscribed');
  expect(sent).toBeLessThan(20_000_000);
});

test('a forged link is not found and changes nothing', async () => {
  const { link, statusOf } = await recipient();
  for (const bad of [
    `${link}x`,
    link.slice(0, -1),
    link.replace(/-.*/, ''),
    link.slice(0, -20),
    `${origin}/u/`,
    `${origin}/u/%00`,
  ]) {
    expect((await fetch(bad, ONE_CLICK)).status, bad).toBe(404);
  }
  expect(await statusOf()).toBe('none');
});

test('a link still works after its message has been deleted: the address is suppressed and the event is emitted', async () => {
  const { api, contact, campaignId, messageId, link, statusOf } = await recipient();
  await pool.query('DELETE FROM messages WHERE id = $1', [messageId]);
  expect(await (await fetch(link)).text()).toContain('ada@mail.test');
  expect(await statusOf()).toBe('none');
  expect((await fetch(link, ONE_CLICK)).status).toBe(200);
  expect((await fetch(link, ONE_CLICK)).status).toBe(200);
  expect(await statusOf()).toBe('unsubscribed');
  expect(await api.events('contact.unsubscribed')).toMatchObject([{ data: { contact_id: contact.id } }]);
  expect((await api.get(`/v1/campaigns/${campaignId}`)).body.data.engagement.unsubscribed).toBe(0);
});

test('a link still suppresses the address after message and contact have been deleted', async () => {
  const { api, contact, messageId, link } = await recipient();
  await pool.query('DELETE FROM messages WHERE id = $1', [messageId]);
  await api.delete(`/v1/contacts/${contact.id}`);
  expect((await fetch(link, ONE_CLICK)).status).toBe(200);
  expect((await api.post('/v1/contacts', { email: 'ada@mail.test' })).status).toBe(409);
});

test.each([true, false])(
  'an old link of a contact whose address changed suppresses both addresses; message exists: %s',
  async (messageExists) => {
    const { api, contact, messageId, link, statusOf } = await recipient();
    await api.patch(`/v1/contacts/${contact.id}`, { email: 'lovelace@mail.test' });
    if (!messageExists) await pool.query('DELETE FROM messages WHERE id = $1', [messageId]);
    expect((await fetch(link, ONE_CLICK)).status).toBe(200);
    expect(await statusOf()).toBe('unsubscribed');
    const { data } = (await api.get('/v1/suppressions')).body;
    expect(data.map(({ email }: { email: string }) => email).sort()).toEqual(['ada@mail.test', 'lovelace@mail.test']);
    expect(await api.events('contact.unsubscribed')).toHaveLength(1);
  },
);

test('a link does not reveal the address and works for its own message only', async () => {
  const { link, messageId, statusOf } = await recipient();
  const [, token = ''] = link.split('/u/');
  expect(Buffer.from(token.slice(27), 'base64url').toString('latin1')).not.toContain('ada');
  const other = link.replace(messageId.slice(4), newId('eml').slice(4));
  expect((await fetch(other, ONE_CLICK)).status).toBe(404);
  expect(await statusOf()).toBe('none');
});

test('a legacy link without the address works as long as its message exists', async () => {
  const { messageId, statusOf } = await recipient();
  const suffix = messageId.slice(4);
  const old = `${origin}/u/${suffix}-${macFor('postroom unsubscribe links').sign(suffix, 12, 'base64url')}`;
  expect((await fetch(old, ONE_CLICK)).status).toBe(200);
  expect(await statusOf()).toBe('unsubscribed');
  await pool.query('DELETE FROM messages WHERE id = $1', [messageId]);
  expect((await fetch(old, ONE_CLICK)).status).toBe(404);
});

test('an erased contact can unsubscribe without its address being stored again', async () => {
  const { api, contact, link } = await recipient();
  const owner = await signedIn(api, 'owner');
  await owner.graphql('mutation ($id: ID!) { erasePerson(contactId: $id) { messages } }', { id: contact.id });
  expect((await fetch(link, ONE_CLICK)).status).toBe(200);
  const { data } = (await api.get('/v1/suppressions')).body;
  expect(data.map(({ email }: { email: string }) => email)).toEqual(['erased']);
  const again = await api.post('/v1/suppressions', { email: 'ada@mail.test' });
  expect([again.status, again.body.data.email]).toEqual([200, 'erased']);
});

test('the link of a test email says that it is a test', async () => {
  const page = await fetch(origin + new URL(testUnsubscribeUrl()).pathname, ONE_CLICK);
  expect(page.status).toBe(200);
  expect(await page.text()).toContain('test');
});

test('other methods are rejected', async () => {
  const { link } = await recipient();
  const reply = await fetch(link, { method: 'DELETE' });
  expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
});

const AGAIN = { method: 'POST', body: new URLSearchParams({ preferences: 'subscribe' }) };

test('the page offers to undo; subscribing again is recorded, and the campaign still counts who unsubscribed', async () => {
  const { api, contact, campaignId, link, statusOf } = await recipient();
  expect(await (await fetch(link)).text()).not.toContain('Subscribe again');
  expect(await (await fetch(link, ONE_CLICK)).text()).toContain('Subscribe again');
  expect(await (await fetch(link)).text()).toMatch(/You are unsubscribed.*Subscribe again/s);
  for (const reply of [await fetch(link, AGAIN), await fetch(link, AGAIN)]) {
    expect(reply.status).toBe(200);
    expect(await reply.text()).toContain('You are subscribed again');
  }
  expect(await statusOf()).toBe('none');
  expect(await (await fetch(link)).text()).toContain('Do you want to stop receiving');
  expect(await api.events('contact.subscribed')).toMatchObject([{ data: { contact_id: contact.id } }]);
  const owner = await signedIn(api);
  const history = async () => {
    const query = 'query ($id: ID!) { contact(id: $id) { activity { type } } }';
    const { activity } = (await owner.graphql(query, { id: contact.id })).body.data.contact;
    return activity.map(({ type }: { type: string }) => type).filter((type: string) => type.endsWith('subscribed'));
  };
  expect(await history()).toEqual(['contact.subscribed', 'contact.unsubscribed']);
  const listed = async () => (await api.get(`/v1/campaigns/${campaignId}/recipients`)).body.data[0];
  expect(await listed()).toMatchObject({ unsubscribedAt: expect.any(String), resubscribedAt: expect.any(String) });
  await fetch(link, ONE_CLICK);
  expect(await statusOf()).toBe('unsubscribed');
  expect(await history()).toEqual(['contact.unsubscribed']);
  expect((await api.get(`/v1/campaigns/${campaignId}`)).body.data.engagement.unsubscribed).toBe(1);
});

test('subscribing again lifts no other reason for which the address is suppressed', async () => {
  const { api, link, statusOf } = await recipient();
  await api.post('/v1/suppressions', { email: 'ada@mail.test', reason: 'manual' });
  await fetch(link, ONE_CLICK);
  await fetch(link, AGAIN);
  expect(await statusOf()).toBe('manual');
});

test("the page shows the project's logo, which anyone may load and nobody may misuse", async () => {
  const { api, link } = await recipient();
  const owner = await signedIn(api, 'owner');
  const set = (image: string | null) =>
    owner.graphql('mutation ($image: String) { setProjectLogo(image: $image) { logoUrl } }', { image });
  const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from(api.projectId)]);
  const { logoUrl } = (await set(png.toString('base64'))).body.data.setProjectLogo;
  const { pathname } = new URL(logoUrl);
  const page = await fetch(link);
  expect(await page.text()).toContain(`<header><img src="${pathname}" alt="">Acme`);
  expect(page.headers.get('content-security-policy')).toContain("img-src 'self'");
  const logo = await fetch(api.url + pathname);
  expect(Buffer.from(await logo.arrayBuffer())).toEqual(png);
  expect(Object.fromEntries(logo.headers)).toMatchObject({
    'content-type': 'image/png',
    'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'cache-control': 'public, max-age=31536000, immutable',
  });
  expect((await fetch(api.url + pathname, { method: 'POST' })).status).toBe(405);
  const member = await signedIn(api, 'member');
  const refused = await member.graphql('mutation { setProjectLogo(image: null) { id } }');
  expect(refused.body.errors[0].extensions.code).toBe('forbidden');
  await set(null);
  expect((await fetch(api.url + pathname)).status).toBe(404);
  expect(await (await fetch(link)).text()).not.toContain('<img');
});

test.each([
  ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), /PNG, JPEG or WebP/],
  ['nothing', Buffer.alloc(0), /PNG, JPEG or WebP/],
  ['a page named as an image', Buffer.from('<!doctype html>'), /PNG, JPEG or WebP/],
  ['more than 200 KB', Buffer.concat([Buffer.from('ffd8ff', 'hex'), Buffer.alloc(200 * 1024)]), /200 KB|characters/],
])('a logo is an image by its content: %s is an error that names the field', async (_, content, message) => {
  const { api } = await recipient();
  const owner = await signedIn(api, 'owner');
  const reply = await owner.graphql('mutation ($image: String) { setProjectLogo(image: $image) { id } }', {
    image: content.toString('base64'),
  });
  expect(JSON.stringify(reply.body.errors)).toMatch(message);
  expect(JSON.stringify(reply.body.errors)).toMatch(/image/);
});

test("the page shows the sender's name, color and postal address", async () => {
  const { api, link } = await recipient();
  const owner = await signedIn(api, 'owner');
  await owner.graphql('mutation { setBrandColor(color: "#123456") { id } }');
  await owner.graphql('mutation ($a: String) { setPostalAddress(address: $a) { id } }', {
    a: 'Acme <Ltd>\n1 Main Street',
  });
  const html = await (await fetch(link)).text();
  expect(html).toContain('<header>Acme &amp; &lt;Sons&gt;</header>');
  expect(html).toContain('<footer>Acme &lt;Ltd&gt;\n1 Main Street</footer>');
  expect(html).toContain('#123456');
});

test('a recipient whose address changes at the same moment is unsubscribed at the new one too', async () => {
  const { api, contact, link, statusOf } = await recipient();
  const page = await interleave(
    (tx) => sql(tx, 'SELECT FROM messages WHERE contact_id = $1 FOR UPDATE', [contact.id]),
    () => fetch(link, ONE_CLICK),
    async () => {
      expect((await api.patch(`/v1/contacts/${contact.id}`, { email: 'new@mail.test' })).status).toBe(200);
    },
  );
  expect(page.status).toBe(200);
  expect(await statusOf()).toBe('unsubscribed');
});
