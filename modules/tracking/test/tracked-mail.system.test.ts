import { eventually, mailSystem } from '@postroom/testkit';
import PostalMime from 'postal-mime';
import { expect, test } from 'vitest';

const { sink, system } = await mailSystem();

const HTML =
  '<p>Hello {{name}} <a href="https://a.example/?n={{city}}">yours</a> <a href="https://b.example/">ours</a></p>';

async function mailTo(to: string) {
  const mail = await eventually(() => {
    const found = sink.mails.find((mail) => mail.to === to);
    expect(found).toBeDefined();
    return found!;
  }, 30_000);
  return PostalMime.parse(Buffer.from(mail.raw, 'latin1'));
}

const linksOf = (html: string | undefined) =>
  [...(html ?? '').matchAll(/href="([^"]+\/t\/c\/[^"]+)"/g)].map(([, url]) => new URL(url!).pathname);
const follow = async (path: string) =>
  (await fetch(system.url + path, { redirect: 'manual', headers: { 'User-Agent': 'Firefox' } })).headers.get(
    'location',
  );

async function startCampaign(word: string, more: Record<string, unknown> = {}) {
  const api = await system.api();
  await api.post('/v1/custom-fields', { key: 'city', type: 'text' });
  const contacts = ['Oslo & Bergen', 'Rome'].map((city, index) => ({
    email: `${word}${index}@mail.test`,
    custom_fields: { city },
  }));
  await api.post('/v1/contacts/batch', { contacts });
  const { rows } = await system.pool.query<{ id: string }>('SELECT id FROM contacts WHERE project_id = $1', [
    api.projectId,
  ]);
  const group = (await api.post('/v1/groups', { name: 'All', contact_ids: rows.map(({ id }) => id) })).body.data;
  const reply = await api.post('/v1/campaigns', {
    name: word,
    subject: 'News',
    from_email: 'news@example.com',
    html: HTML,
    group_ids: [group.id],
    ...more,
  });
  expect(reply.status, JSON.stringify(reply.body)).toBe(201);
  const { id } = reply.body.data;
  expect((await api.post(`/v1/campaigns/${id}/send`)).status).toBe(202);
  return { api, id: id as string };
}

test('campaign links redirect each recipient by the values they had when it was sent', async () => {
  const { api, id } = await startCampaign('tracked');
  const [first, second] = [await mailTo('tracked0@mail.test'), await mailTo('tracked1@mail.test')];
  await system.pool.query(`UPDATE contacts SET custom_fields = '{"city":"Elsewhere"}' WHERE project_id = $1`, [
    api.projectId,
  ]);
  const targets = await Promise.all([first, second].flatMap(({ html }) => linksOf(html)).map((path) => follow(path)));
  expect(targets).toEqual([
    'https://a.example/?n=Oslo%20%26%20Bergen',
    'https://b.example/',
    'https://a.example/?n=Rome',
    'https://b.example/',
  ]);
  expect(first.text).toContain('https://b.example/');
  expect(first.text).not.toContain('/t/c/');
  expect(first.html).toMatch(/<a href="[^"]+\/u\/[^"]+"[^>]*>Unsubscribe/);
  const { data } = (await api.get(`/v1/campaigns/${id}/links`)).body;
  expect(data.map(({ url }: { url: string }) => url)).toEqual(['https://a.example/?n={{city}}', 'https://b.example/']);
});

test('an untracked campaign keeps its original links and has no pixel', async () => {
  const { api, id } = await startCampaign('plain', { track_opens: false, track_clicks: false });
  const { html } = await mailTo('plain0@mail.test');
  expect(html).not.toMatch(/\/t\/[oc]\//);
  expect(html).toContain('https://b.example/');
  expect((await api.get(`/v1/campaigns/${id}/links`)).body.data).toEqual([]);
  expect((await api.get(`/v1/campaigns/${id}`)).body.data).toMatchObject({ trackOpens: false, trackClicks: false });
});

test('each recipient of a transactional email has individual links to its targets', async () => {
  const api = await system.api();
  const send = (body: object) =>
    api.post('/v1/emails', {
      from: 'a@example.com',
      subject: 'Hi',
      html: '<a href="https://a.example/?a=1&amp;b=2">A</a>',
      ...body,
    });
  const { body } = await send({ to: ['own1@mail.test', 'own2@mail.test'] });
  const { id } = body.data;
  const paths = [...linksOf((await mailTo('own1@mail.test')).html), ...linksOf((await mailTo('own2@mail.test')).html)];
  expect(new Set(paths).size).toBe(2);
  expect(await Promise.all(paths.map((path) => follow(path)))).toEqual(Array(2).fill('https://a.example/?a=1&b=2'));
  const { rows } = await system.pool.query('SELECT count(*)::int AS links FROM tracked_links WHERE owner_id = $1', [
    id,
  ]);
  expect(rows).toEqual([{ links: 1 }]);
  await send({ to: ['own3@mail.test'], track_opens: false, track_clicks: false });
  expect((await mailTo('own3@mail.test')).html).not.toContain('/t/');
});
