import { addLocalDomain } from '@postroom/domains';
import { config, newId, pool } from '@postroom/platform';
import { type Api, signedIn, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { parseTemplate, renderTemplate, type Values } from '@postroom/templating';
import { classifyHits, readTracking, storeLinks, trackHtml, trackingToken } from '../src/index.ts';
import { TRACKING_POLICY } from '../src/policy.ts';
import { deleteOldHits } from '../src/retention.ts';
import { checkPlans } from '@postroom/testkit/plans';

checkPlans();

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';
const BASE = 'https://mail.example.com';
const ALL = { opens: true, clicks: true };

/** Inserts messages of a campaign that were accepted an hour ago, and its links. */
async function campaignOf(count: number, links: string[], state = 'accepted') {
  const api = await testApi();
  const campaignId = newId('cmp');
  await pool.query(
    `INSERT INTO campaigns (id, project_id, name, subject, status, recipient_count, accepted_count, unknown_count, updated_at)
     VALUES ($1, $2, 'News', 'News', 'completed', $3, CASE $4 WHEN 'accepted' THEN $3 ELSE 0 END, CASE $4 WHEN 'unknown' THEN $3 ELSE 0 END, now())`,
    [campaignId, api.projectId, count, state],
  );
  const ids = Array.from({ length: count }, () => newId('eml'));
  await pool.query(
    `INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state, claimed_at, accepted_at)
     SELECT id, $2, $3, 'ctc_' || right(id, 26), 'r' || n || '@mail.test', $4::message_state, now() - interval '1 hour',
       CASE $4 WHEN 'accepted' THEN now() - interval '1 hour' END
     FROM unnest($1::text[]) WITH ORDINALITY AS t(id, n)`,
    [ids, api.projectId, campaignId, state],
  );
  await storeLinks([{ id: campaignId, links }]);
  return { api, campaignId, ids, id: ids[0]! };
}

const fetchAs = (api: Api, path: string, userAgent = BROWSER, method = 'GET') =>
  fetch(api.url + path, { method, redirect: 'manual', headers: { 'User-Agent': userAgent } });
const open = (api: Api, id: string, userAgent?: string) => fetchAs(api, `/t/o/${trackingToken(id)}`, userAgent);
const click = (api: Api, id: string, link: number, userAgent?: string, method?: string) =>
  fetchAs(api, `/t/c/${trackingToken(id)}.${link}`, userAgent, method);
/** Classifies hits as if a minute had passed. It polls, because opens are stored after their response and another process may hold the lock. */
async function classified(id: string, hits: number): Promise<{ verdict: string; reason: string | null }[]> {
  for (;;) {
    await classifyHits(new Date(Date.now() + 60_000));
    const { rows } = await pool.query(
      'SELECT verdict, reason FROM tracking_hits WHERE message_id = $1 AND verdict IS NOT NULL ORDER BY id',
      [id],
    );
    if (rows.length >= hits) return rows;
    await new Promise((again) => setTimeout(again, 20));
  }
}
const engagementOf = async (api: Api, id: string) => (await api.get(`/v1/campaigns/${id}`)).body.data.engagement;
const factsOf = async (id: string) => {
  const { rows } = await pool.query(
    'SELECT opened_at, clicked_at, machine_opened_at, machine_clicked_at FROM messages WHERE id = $1',
    [id],
  );
  return rows[0];
};

test('a pixel returns an uncacheable image and counts as one open however often it is fetched', async () => {
  const { api, campaignId, id } = await campaignOf(1, []);
  const reply = await open(api, id);
  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toBe('image/gif');
  expect(reply.headers.get('cache-control')).toContain('no-store');
  expect((await reply.bytes()).length).toBeGreaterThan(30);
  await open(api, id);
  await open(api, id);
  await classified(id, 3);
  expect(await engagementOf(api, campaignId)).toMatchObject({ opened: 1, openedByMachines: 0, clicked: 0 });
  const events = await api.events('email.opened');
  expect(events.map(({ data }) => data)).toEqual([
    expect.objectContaining({ message_id: id, campaign_id: campaignId, subject: 'News', user_agent: BROWSER }),
  ]);
  expect((await factsOf(id)).opened_at).toBeInstanceOf(Date);
});

test("a link redirects to its campaign's target, and each link of a message emits one email.clicked", async () => {
  const { api, campaignId, ids, id } = await campaignOf(2, [
    'https://a.example/?q=1&r=%C3%A4#top',
    'http://b.example/',
  ]);
  const reply = await click(api, id, 0);
  expect(reply.status).toBe(302);
  expect(reply.headers.get('location')).toBe('https://a.example/?q=1&r=%C3%A4#top');
  await click(api, id, 0);
  await click(api, id, 1);
  await click(api, ids[1]!, 1);
  await classified(id, 3);
  await classified(ids[1]!, 1);
  expect(await engagementOf(api, campaignId)).toMatchObject({ clicked: 2, clickedByMachines: 0, opened: 0 });
  const { body } = await api.get(`/v1/campaigns/${campaignId}/links`);
  expect(body.data).toEqual([
    { position: 0, url: 'https://a.example/?q=1&r=%C3%A4#top', clicks: 2, uniqueClicks: 1, clicksByMachines: 0 },
    { position: 1, url: 'http://b.example/', clicks: 2, uniqueClicks: 2, clicksByMachines: 0 },
  ]);
  const events = await api.events('email.clicked');
  expect(events.map(({ data }) => `${data.message_id === id} ${String(data.url)}`).sort()).toEqual([
    'false http://b.example/',
    'true http://b.example/',
    'true https://a.example/?q=1&r=%C3%A4#top',
  ]);
});

test('a forged token records no open and redirects nowhere', async () => {
  const { api, id } = await campaignOf(1, ['https://a.example/']);
  const token = trackingToken(id);
  const other = newId('eml').slice(4);
  for (const forged of [
    `${other}${token.slice(26)}`,
    `${token.slice(0, -1)}!`,
    token.slice(0, 30),
    '',
    '%00',
    'https:',
  ]) {
    expect((await fetchAs(api, `/t/o/${forged}`)).status).toBe(200);
    expect((await fetchAs(api, `/t/c/${forged}.0`)).status).toBe(404);
  }
  for (const link of ['1', '-1', '0.AAAA', '', '99999999999']) {
    const reply = await fetchAs(api, `/t/c/${token}.${link}`);
    expect(reply.status).toBe(link === '1' ? 410 : 404);
    expect(reply.headers.get('location')).toBeNull();
  }
  expect((await fetchAs(api, `/t/c/${token}.0?url=https://evil.example`)).headers.get('location')).toBe(
    'https://a.example/',
  );
  expect((await fetchAs(api, `/t/o/${token}`, BROWSER, 'POST')).status).toBe(405);
});

test.each<[string, string, string | null]>([
  ['Apple Mail Privacy Protection', 'Mozilla/5.0', 'apple_privacy'],
  ['a known scanner', 'Barracuda Sentinel (EE)', 'program'],
  ['a script', 'python-requests/2.32', 'program'],
  ['a request without a user agent', '', 'no_user_agent'],
  [
    "Gmail's proxy, which fetches when a human opens",
    'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)',
    null,
  ],
  ['a browser', BROWSER, null],
  ['a phone called Robot', 'Mozilla/5.0 (Linux; Android 15; Robotics X) AppleWebKit/537.36 Mobile', null],
])('%s is classified by its user agent', async (_who, userAgent, reason) => {
  const { api, campaignId, id } = await campaignOf(1, []);
  await open(api, id, userAgent);
  expect(await classified(id, 1)).toEqual([{ verdict: reason === null ? 'person' : 'machine', reason }]);
  const expected = reason === null ? { opened: 1, openedByMachines: 0 } : { opened: 0, openedByMachines: 1 };
  expect(await engagementOf(api, campaignId)).toMatchObject(expected);
  expect(await api.events('email.opened')).toHaveLength(reason === null ? 1 : 0);
});

test('hits within seconds of acceptance are a bot', async () => {
  const { api, campaignId, id } = await campaignOf(1, ['https://a.example/']);
  await pool.query('UPDATE messages SET accepted_at = now() WHERE id = $1', [id]);
  await open(api, id);
  await click(api, id, 0);
  const hits = await classified(id, 2);
  expect(hits.map(({ verdict, reason }) => `${verdict}: ${reason}`)).toEqual([
    'machine: too_soon',
    'machine: too_soon',
  ]);
  expect(await engagementOf(api, campaignId)).toMatchObject({
    openedByMachines: 1,
    clickedByMachines: 1,
    opened: 0,
    clicked: 0,
  });
});

test('concurrent clicks on many links are a bot, and so is HEAD; a later click by a human still counts', async () => {
  const { api, campaignId, id } = await campaignOf(1, [
    'https://a.example/',
    'https://b.example/',
    'https://c.example/',
  ]);
  await Promise.all([0, 1, 2].map((link) => click(api, id, link)));
  expect((await click(api, id, 0, BROWSER, 'HEAD')).headers.get('location')).toBe('https://a.example/');
  const hits = await classified(id, 4);
  expect(hits.map(({ reason }) => reason).sort()).toEqual(['burst', 'burst', 'burst', 'method']);
  await pool.query(`UPDATE tracking_hits SET at = at - interval '1 minute' WHERE message_id = $1`, [id]);
  await click(api, id, 1);
  await classified(id, 5);
  expect(await engagementOf(api, campaignId)).toMatchObject({ clicked: 1, clickedByMachines: 1 });
  const [, second] = (await api.get(`/v1/campaigns/${campaignId}/links`)).body.data;
  expect(second).toMatchObject({ clicks: 1, uniqueClicks: 1, clicksByMachines: 1 });
});

test('an unknown message becomes accepted when it is opened', async () => {
  const { api, campaignId, id } = await campaignOf(1, [], 'unknown');
  await open(api, id);
  await classified(id, 1);
  expect((await api.get(`/v1/campaigns/${campaignId}`)).body.data).toMatchObject({
    engagement: { sent: 1, opened: 1 },
    progress: { unknown: 0, accepted: 1 },
  });
  const types = (await api.events()).map(({ type }) => type).filter((type) => type.startsWith('email.'));
  expect(types).toEqual(['email.sent', 'email.opened']);
});

test('opens and clicks appear in the timeline and in statistics, with bots and humans counted separately', async () => {
  const { api, ids, id } = await campaignOf(2, ['https://a.example/']);
  await open(api, id);
  await open(api, id, 'Mozilla/5.0');
  await click(api, id, 0, 'curl/8.9');
  await open(api, ids[1]!);
  await classified(id, 3);
  await classified(ids[1]!, 1);
  const { events } = (await api.get(`/v1/emails/${id}`)).body.data;
  expect(events.map(({ type }: { type: string }) => type)).toEqual(
    expect.arrayContaining(['email.opened', 'email.opened_by_machine', 'email.clicked_by_machine']),
  );
  const { body } = await api.graphql(
    'query ($since: DateTime!) { statistics(since: $since, step: day) { opened clicked openedByMachines clickedByMachines } }',
    { since: new Date(Date.now() - 86_400_000).toISOString() },
  );
  expect(body.data.statistics.at(-1)).toEqual({ opened: 2, clicked: 0, openedByMachines: 1, clickedByMachines: 1 });
});

test('a link of a deleted message shows that it has expired, and its pixel still returns an image', async () => {
  const { api, campaignId, id } = await campaignOf(1, ['https://a.example/']);
  await pool.query('DELETE FROM messages WHERE id = $1', [id]);
  const reply = await click(api, id, 0);
  expect([reply.status, reply.headers.get('location')]).toEqual([410, null]);
  expect(reply.headers.get('content-type')).toContain('text/html');
  expect(reply.headers.get('cache-control')).toContain('no-store');
  expect(await reply.text()).toContain('has expired');
  expect((await click(api, id, 0, BROWSER, 'HEAD')).status).toBe(410);
  expect((await open(api, id)).headers.get('content-type')).toBe('image/gif');
  expect(await classifyHits(new Date(Date.now() + 60_000))).toBeGreaterThanOrEqual(0);
  expect(await engagementOf(api, campaignId)).toMatchObject({ opened: 0, clicked: 0 });
});

test('segments match contacts who opened or clicked', async () => {
  const { api, id } = await campaignOf(1, ['https://a.example/']);
  const ada = await api.contact('ada@example.com');
  await pool.query('UPDATE messages SET contact_id = $2 WHERE id = $1', [id, ada.id]);
  const found = async (field: string) =>
    (await api.post('/v1/segments/preview', { filter: { field, op: 'ever' } })).body.data.contactCount;
  await open(api, id);
  await classified(id, 1);
  expect([await found('opened'), await found('clicked')]).toEqual([1, 0]);
});

const track = (html: string, values: Values = {}, switches = ALL) => {
  const tracked = trackHtml(parseTemplate(html, 'html'), switches, BASE);
  const id = newId('eml');
  return { ...tracked, id, rendered: renderTemplate(tracked.html, tracked.valuesFor(id, values)) };
};

test('tracked links do not reveal their targets, and the pixel ends the body', () => {
  const { id, links, rendered } = track(
    '<html><body><a class="x" href="https://a.example/?x=1&amp;y=2">A</a><A HREF=\'http://b.example/\' title="a > b">B</A></body></html>',
  );
  const token = trackingToken(id);
  expect(links).toEqual(['https://a.example/?x=1&y=2', 'http://b.example/']);
  expect(rendered).toBe(
    `<html><body><a class="x" href="${BASE}/t/c/${token}.0">A</a><A HREF='${BASE}/t/c/${token}.1' title="a > b">B</A>` +
      `<img src="${BASE}/t/o/${token}" width="1" height="1" alt="" style="display:block;width:1px;height:1px;border:0"></body></html>`,
  );
});

test.each([
  ['<a href="mailto:a@example.com">x</a>'],
  ['<a href="tel:+49">x</a>'],
  ['<a href="#top">x</a>'],
  ['<a href="/relative">x</a>'],
  ['<a href="{{unsubscribe_url}}">x</a>'],
  ['<a href="https://shop.example/unsubscribe?u=1">x</a>'],
  [`<a href="${config.PUBLIC_URL}/u/abc">x</a>`],
  ['<a href="https://a.example/" data-track="off">x</a>'],
  ['<a clicktracking=off href="https://a.example/">x</a>'],
  ['<a data-pm-no-track href="https://a.example/">x</a>'],
  ['<!-- <a href="https://a.example/">x</a> -->'],
  ['<style>/* <a href="https://a.example/"> */</style>'],
  ['<link href="https://a.example/style.css"><img src="https://a.example/a.png">'],
  ['<a href="https://">x</a>'],
])('%s stays unchanged', (html) => {
  const { links, rendered } = track(
    html,
    { unsubscribe_url: `${config.PUBLIC_URL}/u/x` },
    { opens: false, clicks: true },
  );
  expect(links).toEqual([]);
  expect(rendered).toBe(html.replace('{{unsubscribe_url}}', `${config.PUBLIC_URL}/u/x`));
});

test("links in Outlook's conditional comments are tracked, since Outlook shows them", () => {
  const { links } = track(
    '<!--[if mso]><v:roundrect href="https://a.example/"></v:roundrect><![endif]--><area href="https://b.example/">',
  );
  expect(links).toEqual(['https://a.example/', 'https://b.example/']);
});

test('a link with placeholders keeps its target from when the mail was rendered and reveals none of its values', async () => {
  const { api, campaignId, id } = await campaignOf(1, []);
  const { links, html, valuesFor } = trackHtml(
    parseTemplate('<a href="https://shop.example/{{sku}}?who={{email}}&amp;x=1">x</a><a href="{{page}}">y</a>', 'html'),
    { opens: false, clicks: true },
    api.url,
  );
  await storeLinks([{ id: campaignId, links }]);
  expect(links).toEqual(['https://shop.example/{{sku}}?who={{email}}&x=1', '{{page}}']);
  const rendered = renderTemplate(
    html,
    valuesFor(id, { sku: 'a/b "c"', email: 'ada+1@example.com', page: 'https://b.example/?p=1&q=2' }),
  );
  // Each has a character that a token never has.
  expect(rendered).not.toMatch(/shop\.|ada(?:\+|%)|b\.example/);
  const targets = await Promise.all(
    [...rendered.matchAll(/href="([^"]+)"/g)].map(async ([, url]) =>
      (await fetch(url!, { redirect: 'manual' })).headers.get('location'),
    ),
  );
  expect(targets).toEqual([
    'https://shop.example/a/b%20%22c%22?who=ada%2B1%40example.com&x=1',
    'https://b.example/?p=1&q=2',
  ]);
  const [first = ''] = /\/t\/c\/[^"]+/.exec(rendered) ?? [];
  const [token, , sealed] = first.slice('/t/c/'.length).split('.');
  // Its values are valid for no other link and no other message.
  expect((await fetchAs(api, `/t/c/${token}.1.${sealed}`)).status).toBe(404);
  expect((await fetchAs(api, `/t/c/${trackingToken(newId('eml'))}.0.${sealed}`)).status).toBe(404);
});

test('links with tags, in conditions and in loops are tracked with the values where they stand', async () => {
  const { api, campaignId, id } = await campaignOf(1, []);
  const { links, html, valuesFor } = trackHtml(
    parseTemplate(
      '<a href="https://a.example/{% if vip %}vip/{{ name }}{% else %}all{% endif %}">x</a>' +
        '{% for item in items %}<a href="https://b.example/?q={{ item.sku | upcase }}">y</a>{% endfor %}' +
        '{% if vip %}<a href="https://c.example/">z</a>{% else %}<a href="https://d.example/{{name}}">z</a>{% endif %}' +
        '<a href="{% if vip %}{{ page }}{% else %}mailto:a@example.com{% endif %}">m</a>',
      'html',
    ),
    { opens: false, clicks: true },
    api.url,
  );
  await storeLinks([{ id: campaignId, links }]);
  const targetsFor = async (values: Values) => {
    const rendered = renderTemplate(html, valuesFor(id, values));
    return Promise.all(
      [...rendered.matchAll(/href="([^"]+)"/g)].map(async ([, url = '']) =>
        url.startsWith('mailto:') ? url : (await fetch(url, { redirect: 'manual' })).headers.get('location'),
      ),
    );
  };
  const items = [{ sku: 'a&b' }, { sku: 'c' }];
  expect(await targetsFor({ vip: true, name: 'Ada L', items, page: 'https://e.example/?a=1&b=2' })).toEqual([
    'https://a.example/vip/Ada%20L',
    'https://b.example/?q=A%26B',
    'https://b.example/?q=C',
    'https://c.example/',
    'https://e.example/?a=1&b=2',
  ]);
  expect(await targetsFor({ name: 'Bob' })).toEqual([
    'https://a.example/all',
    'https://d.example/Bob',
    'mailto:a@example.com',
  ]);
});

test('a link that is a placeholder is tracked only for recipients whose value is an http(s) URL', () => {
  const html = '<a href="{{page}}">x</a>';
  expect(track(html, { page: 'mailto:a@example.com' }, { opens: false, clicks: true }).rendered).toBe(
    '<a href="mailto:a@example.com">x</a>',
  );
  expect(track(html, { page: 'https://a.example/' }).rendered).toContain(`href="${BASE}/t/c/`);
});

test('disabled tracking adds no links or pixel', () => {
  const html = '<a href="https://a.example/">x</a>';
  expect(track(html, {}, { opens: false, clicks: false })).toMatchObject({ rendered: html, links: [] });
  expect(track(html, {}, { opens: true, clicks: false }).rendered).toMatch(
    /^<a href="https:\/\/a.example\/">x<\/a><img src/,
  );
});

test('concurrent hits are stored in batches, and none is lost', async () => {
  const { api, campaignId, ids } = await campaignOf(200, ['https://a.example/']);
  const replies = await Promise.all(ids.flatMap((id) => [open(api, id), click(api, id, 0)]));
  expect(replies.every(({ status }) => status === 200 || status === 302)).toBe(true);
  await Promise.all(ids.map((id) => classified(id, 2)));
  expect(await engagementOf(api, campaignId)).toMatchObject({ opened: 200, clicked: 200 });
  expect(await api.events('email.clicked')).toHaveLength(200);
}, 60_000);

test("a flood of hits on one project's mail delays those of another project by a batch", async () => {
  const { api, id } = await campaignOf(1, []);
  const other = await campaignOf(1, []);
  const flood = 3 * TRACKING_POLICY.classify.maxBatch;
  await pool.query(
    `INSERT INTO tracking_hits (message_id, project_id, kind, at, user_agent)
     SELECT $1, $2, 'open'::hit_kind, now() - interval '1 minute', $6 FROM generate_series(1, $3::int)
     UNION ALL SELECT $4, $5, 'open', now() - interval '1 minute', $6`,
    [id, api.projectId, flood, other.id, other.api.projectId, BROWSER],
  );
  await classified(other.id, 1);
  await classified(id, flood);
  // Each batch is a transaction, and their ids ascend.
  const { rows } = await pool.query<{ later: number }>(
    `SELECT count(*)::int AS later FROM tracking_hits
     WHERE message_id = $1 AND xmin::text::bigint > (SELECT xmin::text::bigint FROM tracking_hits WHERE message_id = $2)`,
    [id, other.id],
  );
  expect(rows[0]?.later).toBeGreaterThan(flood / 2);
}, 60_000);

test('of many hits on one message only some are stored, and its links still redirect', async () => {
  const { api, ids, id } = await campaignOf(2, ['https://a.example/', 'https://b.example/']);
  const most = 2 * TRACKING_POLICY.store.perMessage.capacity;
  const replies = await Promise.all(Array.from({ length: 3 * most }, (_, n) => click(api, id, n % 2)));
  expect(new Set(replies.map((reply) => reply.headers.get('location')))).toEqual(
    new Set(['https://a.example/', 'https://b.example/']),
  );
  await Promise.all(Array.from({ length: 3 * most }, () => open(api, id)));
  expect((await click(api, id, 2)).status).toBe(410);
  await open(api, ids[1]!);
  await click(api, ids[1]!, 0);
  await classified(ids[1]!, 2);
  const { rows } = await pool.query<{ hits: number }>(
    'SELECT count(*)::int AS hits FROM tracking_hits WHERE message_id = $1 GROUP BY kind',
    [id],
  );
  expect(rows).toHaveLength(2);
  for (const { hits } of rows) expect(hits).toBeLessThan(most);
}, 60_000);

test("a campaign or message without tracking settings uses the project's, which its managers can set", async () => {
  const api = await testApi();
  const admin = await signedIn(api, 'admin');
  const of = (opens: boolean | null, clicks: boolean | null) =>
    readTracking(api.projectId, 'a@example.com', { opens, clicks });
  expect(await of(null, null)).toEqual({ opens: true, clicks: true, base: config.PUBLIC_URL });
  const mutation = 'mutation { updateTracking(opens: false) { trackOpens trackClicks } }';
  expect((await api.graphql(mutation)).body.errors[0].extensions.code).toBe('forbidden');
  expect((await admin.graphql(mutation)).body.data.updateTracking).toEqual({ trackOpens: false, trackClicks: true });
  expect(await of(null, null)).toMatchObject({ opens: false, clicks: true });
  expect(await of(true, false)).toMatchObject({ opens: true, clicks: false });
});

test("links use the sender's tracking domain, which must be a subdomain of the sending domain", async () => {
  const api = await testApi();
  const admin = await signedIn(api, 'admin');
  const { id } = await addLocalDomain(api.projectId, 'example.com');
  const set = (host: string | null) =>
    admin.graphql('mutation ($id: ID!, $host: String) { setTrackingDomain(id: $id, host: $host) { trackingDomain } }', {
      id,
      host,
    });
  for (const host of ['links.example.org', 'example.com', 'https://links.example.com', 'a b.example.com', '']) {
    expect((await set(host)).body.errors[0].extensions.code).toBe('validation_error');
  }
  expect((await set('Links.Example.com.')).body.data.setTrackingDomain).toEqual({
    trackingDomain: 'links.example.com',
  });
  const tracking = await readTracking(api.projectId, 'a@example.com', { opens: null, clicks: null });
  expect(tracking.base).toBe('https://links.example.com');
  expect((await set(null)).body.data.setTrackingDomain).toEqual({ trackingDomain: null });
});

test('hits past the event retention are deleted, and their counters stay', async () => {
  const { api, campaignId, id } = await campaignOf(1, []);
  await open(api, id);
  await classified(id, 1);
  await deleteOldHits(Date.now() + config.RETENTION_DAYS * 86_400_000 - 60_000);
  expect(await classified(id, 1)).toHaveLength(1);
  await pool.query(`UPDATE tracking_hits SET at = at - interval '1 year' WHERE message_id = $1`, [id]);
  await deleteOldHits();
  expect(await classified(id, 0)).toEqual([]);
  expect(await engagementOf(api, campaignId)).toMatchObject({ opened: 1 });
});
