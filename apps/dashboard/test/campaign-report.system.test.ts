import { addLocalDomain } from '@postroom/domains';
import { pool } from '@postroom/platform';
import { type Api, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { inBrowser, accessibilityViolations, soon, windowOf } from './browser.ts';

/** A completed campaign with one rejected message, one unknown message and a clicked link. */
async function endedCampaign(api: Api): Promise<string> {
  await addLocalDomain(api.projectId, 'example.com');
  const people = [await api.contact('ada@example.net'), await api.contact('bob@example.net')];
  const group = await api.post('/v1/groups', { name: 'Readers', contact_ids: people.map(({ id }) => id) });
  const { body } = await api.post('/v1/campaigns', {
    name: 'News',
    subject: 'News',
    from_email: 'news@example.com',
    html: '<p><a href="https://example.com/autumn">Autumn</a></p>',
    group_ids: [group.body.data.id],
  });
  const { id } = body.data;
  await pool.query(
    `INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state, unsent_at, answer)
     VALUES (postroom_id('eml'), $1, $2, $3, $4, 'failed', now(), '550 no such user'),
            (postroom_id('eml'), $1, $2, $5, $6, 'unknown', now(), NULL)`,
    [api.projectId, id, ...people.flatMap((person) => [person.id, person.email])],
  );
  await pool.query(
    `UPDATE campaigns SET status = 'completed', started_at = now(), frozen_at = now(), completed_at = now(), recipient_count = 2,
       failed_count = 1, unknown_count = 1 WHERE id = $1`,
    [id],
  );
  await pool.query(
    `INSERT INTO tracked_links (owner_id, position, url, clicks, unique_clicks, machine_clicks)
     VALUES ($1, 0, 'https://example.com/autumn', 12, 7, 3)`,
    [id],
  );
  return id;
}

inBrowser('what came of a campaign', () => {
  test('unknown outcomes are resolved, resending only after confirmation; failed recipients are resent', async () => {
    const api = await testApi();
    const id = await endedCampaign(api);
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    await page.getByRole('button', { name: 'Resolve 1 unknown outcome' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('radio', { name: 'Resend anyway' }).check();
    expect(await dialog.getByRole('button', { name: 'Resend' }).isDisabled()).toBe(true);
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('radio', { name: 'Not accepted' }).check();
    await dialog.getByRole('button', { name: 'Save' }).click();

    await page.getByRole('button', { name: 'Resend to 2 failed recipients' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resend' }).click();
    await page.getByRole('main').getByText('Sending', { exact: true }).waitFor();
    const progress = async () => (await api.get(`/v1/campaigns/${id}`)).body.data.progress as Record<string, number>;
    await soon(progress).toMatchObject({ failed: 0, unknown: 0 });
  });

  test('a campaign that went to no one says so', async () => {
    const api = await testApi();
    const { id } = (await api.post('/v1/campaigns', { name: 'News' })).body.data;
    await pool.query(
      `UPDATE campaigns SET status = 'completed', started_at = now(), frozen_at = now(), completed_at = now() WHERE id = $1`,
      [id],
    );
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    await page.getByText('Nothing was sent, because there were no recipients.').waitFor();
    expect(await page.getByText('0 of 0').count()).toBe(0);
    await pool.query('UPDATE campaigns SET recipient_count = 1, suppressed_count = 1 WHERE id = $1', [id]);
    await page.reload();
    await page.getByText('Nothing was sent. Ended').waitFor();
    await page.getByText('Suppressed', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Resend to those who did not open it' }).count()).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  test('a draft copy for those who did not open it has a segment of them as its audience', async () => {
    const api = await testApi();
    const id = await endedCampaign(api);
    const staff = await api.contact('staff@example.net');
    const excluded = (await api.post('/v1/groups', { name: 'Staff', contact_ids: [staff.id] })).body.data.id;
    const deleted = (await api.post('/v1/groups', { name: 'Gone', contact_ids: [staff.id] })).body.data.id;
    const cy = await api.contact('cy@example.net');
    await pool.query(
      `UPDATE messages SET state = 'accepted', accepted_at = now(), unsent_at = NULL, answer = NULL,
         opened_at = CASE WHEN email LIKE 'ada%' THEN now() END WHERE campaign_id = $1`,
      [id],
    );
    // Images were blocked, but a link was followed.
    await pool.query(
      `INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state, accepted_at, clicked_at)
       VALUES (postroom_id('eml'), $1, $2, $3, 'cy@example.net', 'accepted', now(), now())`,
      [api.projectId, id, cy.id],
    );
    await pool.query(
      `UPDATE campaigns SET recipient_count = 3, accepted_count = 3, failed_count = 0, unknown_count = 0, opened_count = 1,
         clicked_count = 1, excluded_group_ids = $2 WHERE id = $1`,
      [id, [excluded, deleted]],
    );
    await api.delete(`/v1/groups/${deleted}`);
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    await page.getByRole('button', { name: 'Resend to those who did not open it' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Name of the segment').inputValue()).toBe('News: not opened');
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create draft' }).click();
    await page.getByText('This copy goes to those who have not opened it.').waitFor();
    await page.getByText('1 person would receive it now.').waitFor();
    const [copy] = (await api.get('/v1/campaigns')).body.data;
    const [segment] = (await api.get('/v1/segments')).body.data;
    expect(copy).toMatchObject({ name: 'News (resend)', status: 'draft', groupIds: [], segmentIds: [segment.id] });
    expect(copy.excludedGroupIds).toEqual([excluded]);
    const { body } = await api.get(`/v1/contacts?segment_id=${segment.id}`);
    expect(body.data.map(({ email }: { email: string }) => email)).toEqual(['bob@example.net']);
  });

  test('a campaign whose group was deleted is duplicated without it', async () => {
    const api = await testApi();
    const id = await endedCampaign(api);
    const [group] = (await api.get('/v1/groups')).body.data;
    await api.delete(`/v1/groups/${group.id}`);
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    await page.getByRole('button', { name: 'More for News' }).click();
    await page.getByRole('menuitem', { name: 'Duplicate' }).click();
    await page.getByText('Some of its groups or segments were deleted, so check the recipients.').waitFor();
    await page.getByRole('heading', { name: 'News (copy)', level: 1 }).waitFor();
    await page.getByText('No recipients yet.').waitFor();
  });

  test('the setup names whom a campaign excluded, and a chosen option of several words stays on one line', async () => {
    const api = await testApi();
    const id = await endedCampaign(api);
    const { id: contact } = await api.contact('staff@example.net');
    const { id: staff } = (await api.post('/v1/groups', { name: 'Our own staff', contact_ids: [contact] })).body.data;
    await pool.query('UPDATE campaigns SET excluded_group_ids = $2 WHERE id = $1', [id, [staff]]);
    const draft = (await api.post('/v1/campaigns', { name: 'Draft', group_ids: [staff] })).body.data.id;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    const setup = page.getByRole('region', { name: 'Setup' });
    await setup.getByText('Excluded').waitFor();
    await setup.getByText('Our own staff').waitFor();
    await window.open(`/campaigns/${draft}`);
    const chosen = page.locator('.mantine-Pill-label', { hasText: 'Our own staff' });
    await chosen.waitFor();
    expect((await chosen.boundingBox())?.height).toBeLessThan(24);
  });

  test('without delivery reports, rates are based on accepted messages', async () => {
    const api = await testApi();
    const id = await endedCampaign(api);
    await pool.query(
      'UPDATE campaigns SET recipient_count = 42, accepted_count = 40, opened_count = 10 WHERE id = $1',
      [id],
    );
    await using window = await windowOf(api);
    const { page } = window;
    const engagement = page.getByLabel('Engagement');
    await window.open(`/campaigns/${id}`);
    await engagement.getByText('delivery not reported').waitFor();
    await engagement.getByText('25% of accepted').waitFor();
    expect(await engagement.innerText()).toMatch(/40\s+Accepted/);
    expect(await accessibilityViolations(page)).toEqual([]);
    await window.open('/campaigns');
    await page.getByText('not reported').waitFor();

    await pool.query('UPDATE campaigns SET delivered_count = 20 WHERE id = $1', [id]);
    await window.open(`/campaigns/${id}`);
    await engagement.getByText('50% of 40 sent').waitFor();
    await engagement.getByText('50% of delivered').waitFor();
  });

  test('complaints after completion block the sender domain until a user allows it', async () => {
    const api = await testApi();
    const id = await endedCampaign(api);
    await pool.query(
      `UPDATE campaigns SET pause_blocks_sender = true, pause_reason = '5 of 100 messages were marked as spam.' WHERE id = $1`,
      [id],
    );
    const { groupIds } = (await api.get(`/v1/campaigns/${id}`)).body.data;
    const letter = { name: 'Next', subject: 'Next', from_email: 'news@example.com', html: '<p>Next</p>' };
    const next = (await api.post('/v1/campaigns', { ...letter, group_ids: groupIds })).body.data;
    expect((await api.post(`/v1/campaigns/${next.id}/send`)).status).toBe(403);
    await using viewer = await windowOf(api, 'viewer');
    await viewer.open(`/campaigns/${id}`);
    await viewer.page.getByText('Campaigns from this domain are paused').waitFor();
    expect(await viewer.page.getByRole('button', { name: 'Allow campaigns again' }).count()).toBe(0);

    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    await page.getByText('5 of 100 messages were marked as spam.').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Allow campaigns again' }).click();
    await page.getByText('Campaigns from this domain are paused').waitFor({ state: 'detached' });
    expect((await api.get(`/v1/campaigns/${id}`)).body.data).toMatchObject({
      status: 'completed',
      blocksSender: false,
    });
    expect((await api.post(`/v1/campaigns/${next.id}/send`)).status).toBe(202);
  });

  test('links show human and bot clicks separately', async () => {
    const api = await testApi();
    const id = await endedCampaign(api);
    await using window = await windowOf(api, 'viewer');
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    const row = page.getByRole('table', { name: 'Links' }).locator('tbody tr');
    await soon(() => row.locator('td').allTextContents()).toEqual(['https://example.com/autumn', '7', '12', '3']);
    expect(await page.getByRole('button', { name: /Send again|Decide/ }).count()).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  test('a chart shows engagement by hour once there is any', async () => {
    const api = await testApi();
    const id = await endedCampaign(api);
    await using window = await windowOf(api, 'viewer');
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    await page.getByRole('table', { name: 'Links' }).waitFor();
    const chart = page.getByRole('figure', { name: 'Opens, clicks and unsubscribes by hour' });
    expect(await chart.count()).toBe(0);
    await pool.query("UPDATE campaigns SET started_at = now() - interval '4 hours' WHERE id = $1", [id]);
    await pool.query('UPDATE messages SET opened_at = now(), clicked_at = now() WHERE campaign_id = $1', [id]);
    await page.reload();
    await chart.getByText('Opened').waitFor();
    await chart.locator('.chart-line').first().waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  test('tracking defaults are a project setting for managers', async () => {
    const api = await testApi();
    const tracked = async () =>
      (await api.graphql('{ projects { trackOpens } }')).body.data.projects[0].trackOpens as boolean;
    const before = await tracked();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/settings');
    await page.getByRole('switch', { name: 'Track opens' }).click();
    await soon(tracked).toBe(!before);
    expect(await accessibilityViolations(page)).toEqual([]);

    await using member = await windowOf(api, 'member');
    await member.open('/settings');
    await soon(() => member.page.getByRole('switch', { name: 'Track opens' }).isDisabled()).toBe(true);
  });
});
