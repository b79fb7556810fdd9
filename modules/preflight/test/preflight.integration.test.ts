import { readyCampaign } from '@postroom/campaigns/testing';
import { suppress } from '@postroom/contacts';
import { pool } from '@postroom/platform';
import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';

test('preflight counts the audience, who is excluded, and which variables lack a value', async () => {
  const { api, group, campaign } = await readyCampaign({
    html: '<p>{{company}} {{name}}</p><a href="nowhere">x</a>',
  });
  const eve = await api.contact('eve@example.net');
  await api.post(`/v1/groups/${group.id}/contacts`, { contact_ids: [eve.id] });
  await api.patch(`/v1/contacts/${eve.id}`, { subscribed: false });
  const { data } = (await api.post(`/v1/campaigns/${campaign.id}/preflight`)).body;
  expect(data).toMatchObject({
    isReady: true,
    problems: [],
    audience: { contacts: 2, recipients: 1, excluded: [{ reason: 'unsubscribed', contacts: 1 }] },
  });
  const company = data.variables.find(({ name }: { name: string }) => name === 'company');
  expect(company).toEqual({ name: 'company', fallback: null, missing: 1, examples: ['ada@example.net'] });
  const warnings = data.warnings.map(({ message }: { message: string }) => message);
  expect(warnings.join()).toContain('nowhere');
  expect(warnings).toContain('1 recipient has no value for {{company}}, and it has no default');
});

test('preflight warns about a placeholder that nobody can have a value for, as its default hides that', async () => {
  const { api, campaign } = await readyCampaign({
    html: '<p>{{name|there}} {{city|town}} {{custom.city|home}}</p>',
    subject: 'News for {{citty|you}}',
  });
  await api.post('/v1/custom-fields', { key: 'city', type: 'text' });
  const { data } = (await api.post(`/v1/campaigns/${campaign.id}/preflight`)).body;
  const warnings = data.warnings.map(({ message }: { message: string }) => message);
  expect(warnings.filter((message: string) => message.includes('not a custom field'))).toEqual([
    '{{citty}} is not a custom field, so every recipient gets its default "you"',
    '{{custom.city}} is not a custom field, so every recipient gets its default "home"',
  ]);
});

test.each([
  ['completed', 'This campaign is completed and cannot be sent again.'],
  ['canceled', 'This campaign was canceled and cannot be sent.'],
])('preflight of a %s campaign says that it is finished, and nothing else', async (status, message) => {
  const { api, ada, campaign } = await readyCampaign();
  await api.delete(`/v1/contacts/${ada.id}`);
  await pool.query('UPDATE campaigns SET status = $2::campaign_status, from_email = NULL WHERE id = $1', [
    campaign.id,
    status,
  ]);
  const { data } = (await api.post(`/v1/campaigns/${campaign.id}/preflight`)).body;
  expect(data).toMatchObject({ isReady: false, problems: [{ field: 'status', message }] });
});

test("preflight reports a campaign already under way, and names a draft's missing fields as /v1 does", async () => {
  const { api, campaign } = await readyCampaign();
  const problems = async () => (await api.post(`/v1/campaigns/${campaign.id}/preflight`)).body.data.problems;
  await pool.query(`UPDATE campaigns SET status = 'paused', from_email = NULL WHERE id = $1`, [campaign.id]);
  expect(await problems()).toMatchObject([{ field: 'status' }, { field: 'from_email' }]);
  await pool.query(`UPDATE campaigns SET status = 'draft' WHERE id = $1`, [campaign.id]);
  expect(await problems()).toEqual([{ field: 'from_email', message: 'is required' }]);
});

test('preflight warns about clipping, spam signals and suspicious links', async () => {
  const { api, campaign } = await readyCampaign({
    subject: 'RE: WIN NOW!!!',
    from_email: 'no-reply@example.com',
    html: `<img src="https://example.com/a.png"><form></form>
      <a href="http://example.com/">plain</a> <a href="https://bit.ly/x">short</a>
      <a href="https://evil.test/">www.example.com</a> <a href="https://www.example.com/a">example.com</a>`,
  });
  const { data } = (await api.post(`/v1/campaigns/${campaign.id}/preflight`)).body;
  const said = data.warnings.map(({ field, message }: { field: string; message: string }) => `${field}: ${message}`);
  for (const part of [
    /^subject: is all capitals/,
    /^subject: has repeated punctuation/,
    /^subject: looks like a reply/,
    /^from_name: is missing/,
    /^from_email: does not accept replies/,
    /^html: has images without alt text/,
    /^html: is mostly images/,
    /^html: has scripts, forms/,
    /"http:\/\/example.com\/" is not encrypted/,
    /"https:\/\/bit.ly\/x" hides its destination/,
    /leads to evil\.test but reads "www\.example\.com"/,
  ]) {
    expect(said).toContainEqual(expect.stringMatching(part));
  }
  expect(said).toContainEqual(expect.stringMatching(/"https:\/\/www.example.com\/a" leads to an example domain/));
  expect(said.filter((warning: string) => warning.includes('phishing')).join()).not.toContain('www.example.com/a');
});

test('preflight lists every reason for which a contact is excluded', async () => {
  const { api, group, campaign } = await readyCampaign();
  const reasons = ['unsubscribed', 'bounced', 'complained', 'manual'];
  for (const reason of reasons) {
    const contact = await api.contact(`${reason}@example.net`);
    await api.post(`/v1/groups/${group.id}/contacts`, { contact_ids: [contact.id] });
    if (reason === 'unsubscribed') await api.patch(`/v1/contacts/${contact.id}`, { subscribed: false });
    else await suppress(pool, api.projectId, [{ email: `${reason}@example.net`, reason: reason as 'manual' }]);
  }
  const { audience } = (await api.post(`/v1/campaigns/${campaign.id}/preflight`)).body.data;
  expect(audience).toMatchObject({ contacts: 5, recipients: 1 });
  expect(audience.excluded).toEqual(reasons.toSorted().map((reason) => ({ reason, contacts: 1 })));
});

test('preflight reports the message size and warns about a long subject and large HTML', async () => {
  const { api, campaign } = await readyCampaign({
    subject: `${'Long words '.repeat(10)}{{name}}`,
    html: `<p>${'All the news. '.repeat(8_000)}</p>`,
  });
  const { data } = (await api.post(`/v1/campaigns/${campaign.id}/preflight`)).body;
  expect(data.messageBytes).toBeGreaterThan(8_000 * 14);
  const said = data.warnings.map(({ field, message }: { field: string; message: string }) => `${field} ${message}`);
  expect(said).toContainEqual(expect.stringMatching(/^html is over 95 KB/));
  expect(said).toContainEqual(expect.stringMatching(/^subject is over 78 characters/));
});

test('preflight estimates the duration from the rate and the days of a warm-up', async () => {
  const { api, campaign } = await readyCampaign({ rate_per_second: 1 });
  const seconds = async () => (await api.post(`/v1/campaigns/${campaign.id}/preflight`)).body.data.estimatedSeconds;
  expect(await seconds()).toBe(1);
  const eve = await api.contact('eve@example.net');
  const mallory = await api.contact('mallory@example.net');
  const [groupId] = (await api.get(`/v1/campaigns/${campaign.id}`)).body.data.groupIds;
  await api.post(`/v1/groups/${groupId}/contacts`, { contact_ids: [eve.id, mallory.id] });
  expect(await seconds()).toBe(3);
  await pool.query(
    `UPDATE domains SET warmup_steps = '{1, 1}', warmup_since = (now() AT TIME ZONE 'UTC')::date WHERE project_id = $1`,
    [api.projectId],
  );
  expect(await seconds()).toBe(2 * 86_400 + 3);
});

test('preflight of an incomplete campaign reports what a send would', async () => {
  const api = await testApi();
  const { id } = (await api.post('/v1/campaigns', { name: 'Empty' })).body.data;
  const { data } = (await api.post(`/v1/campaigns/${id}/preflight`)).body;
  expect(data.isReady).toBe(false);
  expect(data.problems.map(({ field }: { field: string }) => field)).toContain('subject');
});
