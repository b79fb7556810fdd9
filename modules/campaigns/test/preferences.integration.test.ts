import { unsubscribeUrl } from '@postroom/unsubscribe';
import { addLocalDomain } from '@postroom/domains';
import { newId, pool, sql } from '@postroom/platform';
import { eventually, interleave, signedIn, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { snapshotRecipients } from '../src/snapshot-recipients.ts';
import { checkPlans } from '@postroom/testkit/plans';

checkPlans();

/** Ada and Grace in two public groups and one private group, and a message that Ada received. */
async function readers() {
  const api = await testApi();
  await addLocalDomain(api.projectId, 'example.com');
  const ada = await api.contact('ada@mail.test');
  const grace = await api.contact('grace@mail.test');
  const group = async (name: string, publicName: string | null) => {
    const { id } = (await api.post('/v1/groups', { name, contact_ids: [ada.id, grace.id] })).body.data;
    const query =
      'mutation ($id: ID!, $name: String) { setGroupPublicName(id: $id, publicName: $name) { publicName } }';
    const reply = await api.graphql(query, { id, name: publicName });
    expect(reply.body.data.setGroupPublicName).toEqual({ publicName });
    return id as string;
  };
  const weekly = await group('segment-7', 'Weekly <news>');
  const offers = await group('segment-8', 'Offers');
  const secret = await group('Likely to leave', null);
  const campaign = async (groupIds: string[]) => {
    const reply = await api.post('/v1/campaigns', {
      name: 'News',
      subject: 'News',
      from_name: 'Acme',
      from_email: 'news@example.com',
      html: '<p>Hello</p>',
      group_ids: groupIds,
    });
    return reply.body.data.id as string;
  };
  const messageId = newId('eml');
  await pool.query(
    `INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state) VALUES ($1, $2, $3, $4, 'ada@mail.test', 'accepted')`,
    [messageId, api.projectId, await campaign([weekly]), ada.id],
  );
  const link =
    api.url + new URL(unsubscribeUrl(messageId, { projectId: api.projectId, email: 'ada@mail.test' })).pathname;
  const save = (...kept: string[]) =>
    fetch(link, {
      method: 'POST',
      body: new URLSearchParams([['preferences', 'save'], ...kept.map((id) => ['keep', id])]),
    });
  return { api, ada, grace, weekly, offers, secret, campaign, link, save };
}

const statusOf = async ({ api, ada }: Awaited<ReturnType<typeof readers>>) =>
  (await api.get(`/v1/contacts/${ada.id}`)).body.data.suppressionStatus;

test('the page shows only groups with a public name, and GET changes nothing', async () => {
  const all = await readers();
  const html = await (await fetch(all.link)).text();
  expect(html).toContain('Weekly &lt;news&gt;');
  expect(html).toContain('Offers');
  for (const hidden of ['segment-7', 'Likely to leave', all.secret]) expect(html).not.toContain(hidden);
  expect(html.match(/ checked>/g)).toHaveLength(2);
  await fetch(`${all.link}?preferences=save`);
  expect((await (await fetch(all.link)).text()).match(/ checked>/g)).toHaveLength(2);
  expect(await statusOf(all)).toBe('none');
});

test('a recipient can leave one group and keep the rest: membership stays, later campaigns to that group skip them, and they can rejoin', async () => {
  const all = await readers();
  const { api, ada, weekly, offers, secret, campaign, save, link } = all;
  const html = await (await save(offers)).text();
  expect(html.match(/ checked>/g)).toHaveLength(1);
  expect(html).toContain('To stop all emails, unsubscribe from everything.');
  expect(await statusOf(all)).toBe('none');
  expect((await api.get(`/v1/groups/${weekly}`)).body.data.memberCount).toBe(2);
  const sentTo = async (...groupIds: string[]) => {
    const id = await campaign(groupIds);
    expect((await api.post(`/v1/campaigns/${id}/send`)).status).toBe(202);
    await snapshotRecipients(id);
    return (await api.get(`/v1/campaigns/${id}/recipients`)).body.data
      .map(({ email }: { email: string }) => email)
      .sort();
  };
  expect(await sentTo(weekly)).toEqual(['grace@mail.test']);
  expect(await sentTo(weekly, offers)).toEqual(['ada@mail.test', 'grace@mail.test']);
  expect(await sentTo(secret)).toEqual(['ada@mail.test', 'grace@mail.test']);
  const { audience } = (await api.post(`/v1/campaigns/${await campaign([weekly])}/preflight`)).body.data;
  expect(audience).toEqual({ contacts: 2, recipients: 1, excluded: [{ reason: 'left_group', contacts: 1 }] });
  // Re-adding the contact does not undo its opt-out.
  await api.post(`/v1/groups/${weekly}/contacts`, { contact_ids: [ada.id] });
  expect(await sentTo(weekly)).toEqual(['grace@mail.test']);
  expect((await (await save(weekly, offers)).text()).match(/ checked>/g)).toHaveLength(2);
  expect(await sentTo(weekly)).toEqual(['ada@mail.test', 'grace@mail.test']);
  expect((await fetch(link)).status).toBe(200);
  expect((await api.events('contact.updated')).filter(({ data }) => data.contact_id === ada.id).length).toBeGreaterThan(
    1,
  );
});

test("leaving a group during a campaign to it suppresses the recipient's message and counts it", async () => {
  const { api, weekly, offers, campaign, save } = await readers();
  const [only, both] = [await campaign([weekly]), await campaign([weekly, offers])];
  for (const id of [only, both]) {
    await pool.query(`UPDATE campaigns SET status = 'paused', started_at = now() WHERE id = $1`, [id]);
    await snapshotRecipients(id);
  }
  await save(offers);
  const progress = async (id: string) => (await api.get(`/v1/campaigns/${id}`)).body.data.progress;
  expect(await progress(only)).toMatchObject({ planned: 1, suppressed: 1 });
  expect(await progress(both)).toMatchObject({ planned: 2, suppressed: 0 });
  expect((await api.get(`/v1/campaigns/${only}/recipients?state=suppressed`)).body.data).toMatchObject([
    { email: 'ada@mail.test', answer: 'Not sent: the recipient has left the group.' },
  ]);
});

test('a one-click unsubscribe applies to everything, with or without groups', async () => {
  const all = await readers();
  const reply = await fetch(all.link, {
    method: 'POST',
    body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
  });
  expect(reply.status).toBe(200);
  expect(await statusOf(all)).toBe('unsubscribed');
});

test('choices saved on a page that was open while the recipient unsubscribed do not subscribe them, and apply when they subscribe again', async () => {
  const all = await readers();
  const { link, save, offers } = all;
  await fetch(link, { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) });
  const html = await (await save(offers)).text();
  expect(html).toContain('<h1>You are unsubscribed from everything</h1>');
  expect(html).toContain('Subscribe again');
  expect(html).not.toContain('type="checkbox"');
  expect(await statusOf(all)).toBe('unsubscribed');
  const again = await fetch(link, { method: 'POST', body: new URLSearchParams({ preferences: 'subscribe' }) });
  expect((await again.text()).match(/ checked>/g)).toHaveLength(1);
  expect(await statusOf(all)).toBe('none');
});

test('a forged form cannot leave or join groups that the recipient is not shown', async () => {
  const { save, weekly, secret } = await readers();
  const other = await readers();
  await save(weekly, secret, other.weekly);
  const { rows } = await pool.query('SELECT group_id FROM group_opt_outs WHERE group_id = ANY ($1)', [
    [secret, other.weekly, other.offers],
  ]);
  expect(rows).toEqual([]);
});

test("the page uses the project's color, and its CSP allows only that style", async () => {
  const { api, link } = await readers();
  const owner = await signedIn(api);
  const query = 'mutation ($color: String) { setBrandColor(color: $color) { brandColor } }';
  expect((await owner.graphql(query, { color: 'red}' })).body.errors[0].extensions.code).toBe('validation_error');
  expect((await owner.graphql(query, { color: '#FFCC00' })).body.data.setBrandColor.brandColor).toBe('#ffcc00');
  const page = await fetch(link);
  const html = await page.text();
  expect(html).toContain('background: #ffcc00; color: #000');
  const style = /<style>([\s\S]*?)<\/style>/.exec(html)?.[1] ?? '';
  const hash = Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(style))).toString('base64');
  expect(page.headers.get('content-security-policy')).toContain(`style-src 'sha256-${hash}'`);
});

test('a recipient who leaves a group while the recipients of a campaign are being written does not get it', async () => {
  const { ada, weekly, campaign, save } = await readers();
  const id = await campaign([weekly]);
  await pool.query(`UPDATE campaigns SET status = 'sending', started_at = now() WHERE id = $1`, [id]);
  let saving: Promise<Response> | undefined;
  await interleave(
    (tx) => sql(tx, 'SELECT FROM campaigns WHERE id = $1 FOR UPDATE', [id]),
    () => snapshotRecipients(id),
    async () => {
      // The range is written, and not committed.
      saving = save();
      let isSaved = false;
      void saving.then(() => (isSaved = true));
      await eventually(async () => {
        const waiting = await pool.query(
          `SELECT FROM pg_stat_activity WHERE wait_event = 'advisory' AND query LIKE '%lock_shared%'`,
        );
        expect(isSaved || waiting.rowCount === 1).toBe(true);
      });
    },
  );
  expect((await saving)?.status).toBe(200);
  const { rows } = await pool.query(
    `SELECT m.state, c.suppressed_count FROM messages m JOIN campaigns c ON c.id = m.campaign_id WHERE c.id = $1 AND m.contact_id = $2`,
    [id, ada.id],
  );
  expect(rows).toEqual([{ state: 'suppressed', suppressed_count: 1 }]);
});
