import type { Locator } from 'playwright-core';
import { newId, pool } from '@postroom/platform';
import { type Api, testApi } from '@postroom/testkit';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import {
  expectAccessible,
  holdRequests,
  inBrowser,
  accessibilityViolations,
  SIZES,
  soon,
  windowOf,
} from './browser.ts';

const COLUMNS = ['opened_at', 'clicked_at', 'machine_opened_at', 'bounced_at'] as const;

/** A completed campaign: Ada opened and clicked, a bot opened Bob's, Carl's bounced, Dora's failed. */
async function reportedCampaign(api: Api): Promise<string> {
  const id = newId('cmp');
  await pool.query(
    `INSERT INTO campaigns (id, project_id, name, subject, from_email, html, status, frozen_at, started_at, completed_at, recipient_count,
       accepted_count, failed_count, delivered_count, opened_count, clicked_count, machine_opened_count, bounced_count,
       track_opens, track_clicks, cursor)
     VALUES ($1, $2, 'News', 'News', 'news@example.com', '<p>News</p>', 'completed', now(), now() - interval '5 minutes', now(), 4,
       3, 1, 2, 1, 1, 1, 1, true, true, 'eml_z')`,
    [id, api.projectId],
  );
  const recipient = async (name: string, state: string, facts: readonly (typeof COLUMNS)[number][]) => {
    const contact = await api.contact(`${name}@example.net`);
    const message = newId('eml');
    await pool.query(
      `INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state, accepted_at, unsent_at, delivered_at,
         bounce_class, bounce_reason, ${COLUMNS.join(', ')})
       VALUES ($1, $2, $3, $4, $5, $6::message_state, CASE WHEN $6 = 'accepted' THEN now() - interval '4 minutes' END,
         CASE WHEN $6 = 'failed' THEN now() END, CASE WHEN $6 = 'accepted' AND NOT $10 THEN now() END,
         CASE WHEN $10 THEN 'hard'::bounce_class END, CASE WHEN $10 THEN '550 5.1.1 No such user' END,
         CASE WHEN $7 THEN now() END, CASE WHEN $8 THEN now() END, CASE WHEN $9 THEN now() END, CASE WHEN $10 THEN now() END)`,
      [
        message,
        api.projectId,
        id,
        contact.id,
        contact.email,
        state,
        ...COLUMNS.map((column) => facts.includes(column)),
      ],
    );
    return message;
  };
  const ada = await recipient('ada', 'accepted', ['opened_at', 'clicked_at']);
  await recipient('bob', 'accepted', ['machine_opened_at']);
  await recipient('carl', 'accepted', ['bounced_at']);
  await recipient('dora', 'failed', []);
  await pool.query(
    `INSERT INTO tracked_links (owner_id, position, url, clicks, unique_clicks, machine_clicks)
     VALUES ($1, 0, 'https://example.com/autumn', 2, 1, 0), ($1, 1, 'https://example.com/winter', 0, 0, 0)`,
    [id],
  );
  await pool.query(
    `INSERT INTO tracking_hits (message_id, project_id, kind, position, at, verdict, is_first)
     VALUES ($1, $2, 'click', 0, now(), 'person', true)`,
    [ada, api.projectId],
  );
  return id;
}

/** The addresses that the list shows. */
const listed = (page: Page) =>
  page.getByRole('table', { name: 'Recipients' }).locator('tbody tr td:first-child a').allTextContents();

inBrowser('the people behind a report', () => {
  test('figures, links and steps open their people, who become a segment', async () => {
    const api = await testApi();
    const id = await reportedCampaign(api);
    await pool.query(`UPDATE messages SET rejected_at = now() WHERE campaign_id = $1 AND email LIKE 'bob@%'`, [id]);
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    await page.getByRole('link', { name: 'Opened by bots: 1 by bots' }).click();
    await soon(() => listed(page)).toEqual(['bob@example.net']);
    const rejected = page.getByRole('table', { name: 'Recipients' }).locator('tbody tr');
    await rejected.getByText('Failed', { exact: true }).waitFor();
    await rejected.getByText(/^Rejected/).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'People who clicked https://example.com/autumn: 1' }).click();
    await soon(() => listed(page)).toEqual(['ada@example.net']);
    await page.getByRole('button', { name: 'Make a segment' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Autumn');
    await page.getByRole('button', { name: 'Create segment' }).click();
    await page.getByRole('heading', { level: 1, name: 'Autumn' }).waitFor();
    const [byLink] = (await api.get('/v1/segments')).body.data;
    expect(byLink.filter).toEqual({
      and: [{ field: 'clicked', op: 'ever', campaignId: id, url: 'https://example.com/autumn' }],
    });
    expect(await page.getByRole('combobox', { name: 'Link' }).inputValue()).toBe('https://example.com/autumn');
    await page.getByRole('heading', { name: '1 contact now' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await window.open(`/campaigns/${id}`);
    await page.getByRole('link', { name: 'Failed: 1' }).click();
    await soon(() => listed(page)).toEqual(['dora@example.net']);
    await page.goBack();

    await page.getByRole('link', { name: 'Bounced: 1' }).click();
    await page.getByText('1 recipient', { exact: true }).waitFor();
    const row = page.getByRole('table', { name: 'Recipients' }).locator('tbody tr');
    await row.getByText('Bounced', { exact: true }).waitFor();
    await row.getByText('No such address').waitFor();
    await row.getByText('550 5.1.1 No such user').waitFor();
    expect(await row.getByText('Sent', { exact: true }).count()).toBe(0);
    const href = await page.getByRole('link', { name: 'Export' }).getAttribute('href');
    const file = await page.evaluate(`fetch(${JSON.stringify(href)}).then((reply) => reply.text())`);
    expect(String(file).trimEnd().split('\r\n')).toHaveLength(2);
    expect(await accessibilityViolations(page)).toEqual([]);

    await page.getByRole('button', { name: 'Make a segment' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Name').inputValue()).toBe('News: bounced');
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create segment' }).click();
    await page.getByRole('heading', { level: 1, name: 'News: bounced' }).waitFor();
    const segments = (await api.get('/v1/segments')).body.data as { id: string; name: string; filter: unknown }[];
    const segment = segments.find(({ name }) => name === 'News: bounced');
    if (segment === undefined) throw new Error('The segment is not listed.');
    expect(segment.filter).toEqual({ and: [{ field: 'bounced', op: 'ever', campaignId: id }] });
    const contacts = (await api.get(`/v1/contacts?segment_id=${segment.id}`)).body.data;
    expect(contacts.map(({ email }: { email: string }) => email)).toEqual(['carl@example.net']);
  });

  test('by keyboard: from a figure to a search and a group', async () => {
    const api = await testApi();
    const id = await reportedCampaign(api);
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    await page.getByRole('link', { name: 'All recipients' }).focus();
    await page.keyboard.press('Enter');
    await soon(() => listed(page)).toHaveLength(4);
    await page.getByRole('searchbox', { name: 'Part of an address' }).focus();
    await page.keyboard.type('AR');
    await soon(() => listed(page)).toEqual(['carl@example.net']);
    expect(page.url()).toContain('q=AR');
    await page.getByRole('button', { name: 'Make a group' }).focus();
    await page.keyboard.press('Enter');
    const name = page.getByRole('dialog').getByLabel('Name');
    await name.waitFor();
    await name.fill('Carl');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Carl' }).waitFor();
    const [group] = (await api.get('/v1/groups')).body.data;
    expect(group).toMatchObject({ name: 'Carl', contactCount: 1 });
  });

  test('a campaign that went to no one says so', async () => {
    const api = await testApi();
    const { id } = (await api.post('/v1/campaigns', { name: 'Winner' })).body.data;
    await pool.query(`UPDATE campaigns SET status = 'completed', started_at = now() WHERE id = $1`, [id]);
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}/recipients`);
    await page.getByText('This campaign has no recipients.').waitFor();
    expect(await page.getByRole('link', { name: 'Clear filters' }).count()).toBe(0);
  });

  test('filters narrow clicks to a link and bounces to a reason', async () => {
    const api = await testApi();
    const id = await reportedCampaign(api);
    await using window = await windowOf(api, 'viewer');
    const { page } = window;
    await window.open(`/campaigns/${id}/recipients?outcome=clicked`);
    await soon(() => listed(page)).toEqual(['ada@example.net']);
    expect(await page.getByRole('button', { name: /^Make a/ }).count()).toBe(0);
    await page.getByRole('combobox', { name: 'Link' }).click();
    await page.getByRole('option', { name: 'https://example.com/winter' }).click();
    await page.getByText('No matching recipients').waitFor();
    await page.getByRole('combobox', { name: 'Outcome' }).click();
    await page.getByRole('option', { name: 'Bounced', exact: true }).click();
    await soon(() => listed(page)).toEqual(['carl@example.net']);
    await page.getByRole('combobox', { name: 'Reason' }).click();
    await page.getByRole('option', { name: 'Temporary' }).click();
    await page.getByText('No matching recipients').waitFor();
  });

  test('deferred messages show the next attempt instead of a time left', async () => {
    const api = await testApi();
    const id = await reportedCampaign(api);
    const due = new Date(Date.now() + 25 * 60_000);
    await pool.query("UPDATE campaigns SET status = 'sending', completed_at = NULL, failed_count = 0 WHERE id = $1", [
      id,
    ]);
    await pool.query(
      `UPDATE messages SET state = 'planned', unsent_at = NULL, deferrals = 1, deferred_at = now(), not_before = $2
       WHERE campaign_id = $1 AND state = 'failed'`,
      [id, due],
    );
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    const progress = page.getByRole('region', { name: 'Progress' });
    const time = due.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'Europe/Berlin' });
    await progress.getByText(`1 deferred, next attempt`).waitFor();
    await soon(() => progress.locator('time').first().innerText()).toContain(time);
    expect(await progress.innerText()).not.toMatch(/ left/);
    await progress.getByRole('link', { name: 'Deferred: 1 deferred' }).click();
    await soon(() => listed(page)).toEqual(['dora@example.net']);
    await page.getByRole('table', { name: 'Recipients' }).getByText('Deferred', { exact: true }).waitFor();
  });

  test('messages for a later local time show when the next ones go, and are not called deferred or stalled', async () => {
    const api = await testApi();
    const id = await reportedCampaign(api);
    const due = new Date(Date.now() + 25 * 60_000);
    await pool.query(
      `UPDATE campaigns SET status = 'sending', completed_at = NULL, failed_count = 0, local_time = '2027-01-15T10:00', time_zone = 'UTC',
         time_zone_field = 'zone', waiting_until = $2, waiting_reason = 'Messages wait for the local time of their recipients.'
       WHERE id = $1`,
      [id, due],
    );
    await pool.query(
      `WITH waiting AS (UPDATE messages SET state = 'planned', unsent_at = NULL, claimed_at = NULL, not_before = $2 WHERE campaign_id = $1 AND state = 'failed')
       INSERT INTO campaign_local_times (campaign_id, at, messages) VALUES ($1, $2, 1)`,
      [id, due],
    );
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    const progress = page.getByRole('region', { name: 'Progress' });
    const time = due.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'Europe/Berlin' });
    await progress.getByText('1 waiting for the recipient’s local time, the next at').waitFor();
    await soon(() => progress.locator('time').first().innerText()).toContain(time);
    expect(await progress.innerText()).not.toMatch(/ left|deferred|stalled/);
    await page.getByText('Messages wait for the local time of their recipients. It resumes in 25 minutes.').waitFor();
    await page.getByText('Fri, 15 Jan 2027, 10:00, in the time zone in zone, or UTC').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('link', { name: 'All recipients' }).click();
    await page
      .getByRole('table', { name: 'Recipients' })
      .getByText(/Scheduled in 2[45] minutes/)
      .waitFor();
  });

  test('the report compares with the campaign before, and charts how it was sent', async () => {
    const api = await testApi();
    const id = await reportedCampaign(api);
    await pool.query(
      `INSERT INTO campaigns (id, project_id, name, status, started_at, recipient_count, accepted_count, delivered_count, opened_count, bounced_count)
       VALUES ($1, $2, 'October', 'completed', now() - interval '30 days', 10, 10, 10, 8, 0)`,
      [newId('cmp'), api.projectId],
    );
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    const engagement = page.getByLabel('Engagement');
    await engagement.getByText('Compared with the previous campaign, October.').waitFor();
    await engagement.getByText('30 points').waitFor();
    await engagement.getByText('33.3 points').first().waitFor();
    const chart = page.getByRole('figure', { name: 'Messages sent by minute' });
    // The message that bounced is one of those that were sent, so it does not stand on the one that failed.
    const bars = chart.locator('.chart-bar');
    await soon(() => bars.count()).toBe(3);
    const boxes = await Promise.all([0, 1, 2].map((index) => bars.nth(index).boundingBox()));
    expect(new Set(boxes.map((box) => Math.round((box?.y ?? 0) + (box?.height ?? 0)))).size).toBe(1);
    await chart.getByText('Show as a table').focus();
    await page.keyboard.press('Enter');
    const table = chart.getByRole('table');
    await soon(() => table.locator('thead th').allTextContents()).toEqual(['Time', 'Sent', 'Failed', 'Bounced']);
    await soon(() => table.getByRole('cell', { name: '3', exact: true }).count()).toBe(1);
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  test("a report's charts and links have their place before they are loaded", async () => {
    const api = await testApi();
    const id = await reportedCampaign(api);
    await using window = await windowOf(api);
    const { page } = window;
    const allow = await holdRequests(page, '**/graphql', (request) =>
      /CampaignMinutes|CampaignLinks/.test(request.postData() ?? ''),
    );
    await window.open(`/campaigns/${id}`);
    const [pace, links] = ['Sending pace', 'Links'].map((name) => page.getByRole('region', { name })) as [
      Locator,
      Locator,
    ];
    for (const section of [pace, links]) await section.getByRole('status', { name: 'Loading' }).waitFor();
    const heightOf = async (section: Locator) => (await section.boundingBox())?.height ?? 0;
    const before = await heightOf(pace);
    allow();
    await pace.locator('.chart-bar').first().waitFor();
    await links.getByText('https://example.com/autumn').waitFor();
    expect(Math.abs((await heightOf(pace)) - before)).toBeLessThan(24);
  });

  test('on a phone the figures are on a second line', async () => {
    const api = await testApi();
    const id = await reportedCampaign(api);
    await using window = await windowOf(api, 'viewer', SIZES.phone);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    const link = page.getByRole('table', { name: 'Links' }).locator('tbody tr').first();
    // The titles are in the style sheet.
    const figure = (of: Locator, title: string) => of.locator(`[data-title="${title}"]`);
    await figure(link, 'Clicks').getByText('2', { exact: true }).waitFor();
    await figure(link, 'Bots').getByText('0', { exact: true }).waitFor();
    await window.open('/campaigns');
    const row = page.getByRole('table', { name: 'Campaigns' }).locator('tbody tr').first();
    await figure(row, 'Delivered').getByText('67%').waitFor();
    await figure(row, 'Opened').getByText('50%').waitFor();
    await window.open(`/campaigns/${id}/recipients?outcome=bounced`);
    const bounced = page.getByRole('table', { name: 'Recipients' }).locator('tbody tr').first();
    await bounced.getByText('550 5.1.1 No such user').waitFor();
  });

  test('the report and the list are accessible', async () => {
    const api = await testApi();
    const id = await reportedCampaign(api);
    await using window = await windowOf(api);
    await expectAccessible(api, window.person, `/campaigns/${id}`, 'Sending pace');
    await expectAccessible(api, window.person, `/campaigns/${id}/recipients?outcome=bounced`, '550 5.1.1 No such user');
  });
});
