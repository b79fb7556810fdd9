import { addLocalDomain } from '@postroom/domains';
import { addUnwatchedDomain } from '@postroom/domains/testing';
import { db, pool, record } from '@postroom/platform';
import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { inBrowser, windowOf } from './browser.ts';

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
    await figures.getByText('92 % of sent').waitFor();
    await figures.getByText('1.0 % of sent').waitFor();
    for (const label of ['Opened', 'Clicked', 'Complained', 'Unsubscribed'])
      await figures.getByText(label, { exact: true }).waitFor();
    await page.getByText('In the time zone Europe/Berlin.').waitFor();
    await page.getByText('90 days', { exact: true }).click();
    await page.getByRole('region', { name: 'In the last 90 days' }).waitFor();
    expect(page.url()).toContain('period=90d');
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
    const row = worries.getByText('The webhook Orders is disabled').locator('..');
    await row.getByRole('link', { name: 'View' }).click();
    await page.getByRole('heading', { name: 'Orders' }).waitFor();
  });
});
