import { addLocalDomain } from '@postroom/domains';
import { addUnwatchedDomain } from '@postroom/domains/testing';
import { db, idsFrom, pool, record } from '@postroom/platform';
import { testApi } from '@postroom/testkit';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { accessibilityViolations, expectAccessible, inBrowser, soon, windowOf } from './browser.ts';

/** The labels of charts that are cut off at their sides. */
const cutLabels = (page: Page) =>
  page.evaluate(`[...document.querySelectorAll('.chart')].flatMap((chart) => {
    const { left, right } = chart.getBoundingClientRect();
    const isCut = (box) => box.left < left - 2 || box.right > right + 2;
    return [...chart.querySelectorAll('text')].filter((text) => isCut(text.getBoundingClientRect())).map((text) => text.textContent);
  })`);

inBrowser('home', () => {
  test('guides to the first campaign step by step', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('');
    const list = page.getByRole('region', { name: 'Your first campaign' });
    await list.getByText('0 of 5 done').waitFor();
    await addLocalDomain(api.projectId, 'example.com');
    await api.contact('ada@example.com');
    await page.reload();
    await list.getByText('2 of 5 done').waitFor();
    await list.getByRole('link', { name: 'Add them to a group' }).click();
    await page.getByRole('heading', { name: 'Groups', exact: true }).waitFor();
  });

  test('shows delivery and engagement for the chosen period, with bots separate', async () => {
    const api = await testApi();
    const many = (type: 'email.sent' | 'email.delivered' | 'email.bounced', count: number) =>
      Array.from({ length: count }, () => ({ type, data: {} }));
    await record(pool, api.projectId, [
      ...many('email.sent', 1200),
      ...many('email.delivered', 1100),
      ...many('email.bounced', 12),
    ]);
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('?period=24h');
    const figures = page.getByRole('region', { name: 'In the last 24 hours' });
    await figures.getByText('1,200', { exact: true }).waitFor();
    await figures.getByText('92% of 1,200 sent').waitFor();
    await figures.getByText('1.0% of sent').waitFor();
    for (const label of ['Opened', 'Clicked', 'Complained', 'Unsubscribed'])
      await figures.getByText(label, { exact: true }).waitFor();
    await page.getByText('In the time zone Europe/Berlin.').waitFor();
    await page.getByText('90 days', { exact: true }).click();
    await page.getByRole('region', { name: 'In the last 90 days' }).waitFor();
    expect(page.url()).toContain('period=90d');
  });

  test('every figure opens the list of emails or people behind it, of the same period', async () => {
    const api = await testApi();
    await addLocalDomain(api.projectId, 'example.com');
    const send = async (to: string) =>
      (await api.post('/v1/emails', { from: 'a@example.com', to, subject: 'Hello', text: 'Hi' })).body.data
        .id as string;
    const [ada, bob] = [await send('ada@example.net'), await send('bob@example.net')];
    await record(pool, api.projectId, [
      { type: 'email.sent', data: { message_id: ada } },
      { type: 'email.sent', data: { message_id: bob } },
      { type: 'email.bounced', data: { message_id: bob } },
    ]);
    // As when it is classified, which counts it.
    await pool.query(`INSERT INTO tracking_hits (message_id, kind, at) VALUES ($1, 'open', now())`, [ada]);
    await pool.query(
      `UPDATE tracking_hits SET project_id = $2, verdict = 'machine', is_first = true WHERE message_id = $1`,
      [ada, api.projectId],
    );
    const eve = await api.contact('eve@example.net');
    await api.patch(`/v1/contacts/${eve.id}`, { subscribed: false });
    await using window = await windowOf(api);
    const { page, person } = window;
    await window.open('?period=7d');
    const figures = page.getByRole('region', { name: 'In the last 7 days' });
    const emails = page.getByRole('table', { name: 'Emails' }).locator('tbody tr');
    await figures.getByRole('link', { name: 'Bounced: 1' }).click();
    await page.getByRole('heading', { name: 'Emails', level: 1 }).waitFor();
    await emails.filter({ hasText: 'bob@example.net' }).waitFor();
    expect(await emails.count()).toBe(1);
    const address = page.url();
    expect(address).toContain('outcome=bounced');
    await page.reload();
    await emails.filter({ hasText: 'bob@example.net' }).waitFor();
    expect(await emails.count()).toBe(1);
    await page.getByRole('button', { name: /^Remove filter Bounced since/ }).focus();
    await page.keyboard.press('Enter');
    await emails.filter({ hasText: 'ada@example.net' }).waitFor();

    await window.open('?period=7d');
    await figures.getByRole('link', { name: 'Opened by bots: 1 by bots' }).focus();
    await page.keyboard.press('Enter');
    await emails.filter({ hasText: 'ada@example.net' }).waitFor();
    expect(await emails.count()).toBe(1);

    await window.open('?period=7d');
    await figures.getByRole('link', { name: 'Unsubscribed: 1' }).click();
    await page.getByRole('heading', { name: 'Suppressions', level: 1 }).waitFor();
    await page.getByRole('row').filter({ hasText: 'eve@example.net' }).waitFor();

    await window.open('?period=7d');
    await figures.getByRole('link', { name: '1 contact added' }).click();
    await page.getByRole('heading', { name: 'Contacts', level: 1 }).waitFor();
    await page.getByRole('row').filter({ hasText: 'eve@example.net' }).waitFor();
    await page.getByRole('button', { name: /^Remove filter Added since/ }).waitFor();
    await expectAccessible(api, person, address.slice(address.indexOf('/emails')), 'bob@example.net');
  });

  test('compares with the period before, for a range of days as well, by keyboard', async () => {
    const api = await testApi();
    const DAY_MS = 86_400_000;
    const sent = async (daysAgo: number, count: number, type = 'email.sent') => {
      const at = new Date(Date.now() - daysAgo * DAY_MS);
      await pool.query(
        `INSERT INTO events (id, project_id, type, data, created_at)
         SELECT left($1, 14) || right(postroom_id('evt'), 16), $2, $3, '{}', $4 FROM generate_series(1, $5)`,
        [idsFrom('evt', at), api.projectId, type, at, count],
      );
    };
    await sent(2, 300);
    await sent(2, 9, 'email.bounced');
    await sent(9, 200);
    await sent(40, 50);
    await using window = await windowOf(api, 'viewer');
    const { page } = window;
    await window.open('?period=7d');
    const week = page.getByRole('region', { name: 'In the last 7 days' });
    await week.getByText('300', { exact: true }).first().waitFor();
    await week.getByText('50% compared with the 7 days before').waitFor();
    await week.getByText('3 points compared with the 7 days before').waitFor();
    const rates = page.getByRole('figure', { name: 'Bounce rate' });
    await rates.getByText('2%: rule of thumb').waitFor();
    // The values of a moment, by keyboard and by pointer.
    const volume = page.getByRole('figure', { name: 'Email over time' });
    const chart = volume.getByRole('application');
    const shown = volume.getByRole('status');
    await chart.focus();
    for (const key of ['End', 'ArrowLeft', 'ArrowLeft']) await page.keyboard.press(key);
    await shown.getByText('300', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await shown.getByText('Sent').waitFor({ state: 'detached' });
    const { width = 0 } = (await chart.boundingBox()) ?? {};
    await chart.hover({ position: { x: width - 4, y: 100 } });
    await shown.getByText('Sent').waitFor();
    expect(await shown.getByText('300', { exact: true }).count()).toBe(0);
    const complaints = page.getByRole('figure', { name: 'Complaint rate' });
    await complaints
      .getByText('Gmail asks for less than 0.1%, and never 0.3% or more. Yahoo asks for less than 0.3%.')
      .waitFor();
    await complaints.getByText('0.3%: Gmail’s and Yahoo’s limit').waitFor();
    // With a font that is twice as large, the axes take as much more room.
    await page.evaluate(`document.documentElement.style.fontSize = '32px'`);
    await soon(() => cutLabels(page)).toEqual([]);
    await page.evaluate(`document.documentElement.style.fontSize = ''`);
    await rates.getByText('Show as a table').click();
    await rates.getByRole('cell', { name: '3.00%' }).first().waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);

    await page.getByRole('radio', { name: '7 days' }).focus();
    for (let step = 0; step < 3; step++) await page.keyboard.press('ArrowRight');
    const day = (daysAgo: number) =>
      new Date(Date.now() - daysAgo * DAY_MS).toLocaleDateString('sv', { timeZone: 'Europe/Berlin' });
    await page.getByLabel('First day').fill(day(41));
    await page.getByLabel('Last day').fill(day(50));
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByText('The first day must not be after the last.').waitFor();
    await page.getByLabel('Last day').fill(day(39));
    await page.keyboard.press('Enter');
    await page
      .getByRole('region', { name: /^\S.* to \S/ })
      .getByText('50', { exact: true })
      .first()
      .waitFor();
    expect(page.url()).toContain(`from=${day(41)}&to=${day(39)}`);
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  test('lists what needs attention, with links to fix it', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    const { id: domain } = await addUnwatchedDomain(api.projectId, 'bad.acme.example');
    await db.domain.update({ where: { id: domain }, data: { verification: 'failed', dkim: 'failed' } });
    const endpoint = (
      await api.post('/v1/webhooks', {
        url: 'https://example.com/hook',
        events: ['contact.created'],
        description: 'Orders',
      })
    ).body.data.id;
    await db.webhookEndpoint.update({ where: { id: endpoint }, data: { enabled: false } });
    const degraded = { url: 'https://example.com/crm', events: ['contact.created'], description: 'CRM' };
    const crm = (await api.post('/v1/webhooks', degraded)).body.data.id;
    await pool.query(
      `INSERT INTO webhook_endpoint_hours (endpoint_id, hour, acknowledged, failed)
       VALUES ($1, date_trunc('hour', now()), 9, 1)`,
      [crm],
    );
    const campaign = (await api.post('/v1/campaigns', { name: 'Halted', subject: 'x' })).body.data.id;
    await pool.query(
      `UPDATE campaigns SET status = 'paused', started_at = now(), pause_reason = 'Too many bounces.', unknown_count = 3
       WHERE id = $1`,
      [campaign],
    );
    await window.open('');
    const worries = page.getByRole('region', { name: 'Needs attention' });
    await worries.getByText("bad.acme.example can't send").waitFor();
    await worries.getByText('Halted was paused automatically: Too many bounces.').waitFor();
    await worries.getByText('Halted: 3 messages with an unknown outcome.').waitFor();
    await worries.getByText('The webhook CRM: 90% of 10 attempts acknowledged in the last 24 hours.').waitFor();
    const row = worries.getByText('The webhook Orders is disabled').locator('..');
    await row.getByRole('link', { name: 'View' }).click();
    await page.getByRole('heading', { name: 'Orders' }).waitFor();
  });
});
