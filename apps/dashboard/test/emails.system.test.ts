import { addLocalDomain } from '@postroom/domains';
import { holdMail } from '@postroom/emails/testing';
import { config, pool } from '@postroom/platform';
import { testApi } from '@postroom/testkit';
import { afterEach, expect, test } from 'vitest';
import { inBrowser, accessibilityViolations, soon, windowOf } from './browser.ts';

inBrowser('emails', () => {
  const inbox = config.INBOX_URL;
  afterEach(() => {
    config.INBOX_URL = inbox;
  });

  test('the email log is filtered by address, tag and status, and an email is opened', async () => {
    const api = await testApi();
    await addLocalDomain(api.projectId, 'example.com');
    await holdMail(api.projectId);
    const send = async (to: string, subject: string, tags: string[]) =>
      (
        await api.post('/v1/emails', {
          from: 'Shop <shop@example.com>',
          to,
          subject,
          html: '<h1>Thank you</h1>',
          tags,
        })
      ).body.data.id as string;
    const order = await send('ada@example.net', 'Your order', ['order']);
    await send('bob@example.net', 'Your invoice', ['invoice']);
    await pool.query(
      `UPDATE messages SET state = 'accepted', accepted_at = now(), delivered_at = now() - interval '1 second',
         answer = '250 ok' WHERE id = $1`,
      [order],
    );
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/emails');
    await page.getByRole('link', { name: 'bob@example.net' }).waitFor();
    await page.getByLabel('Recipient’s full address').fill('ADA@example.net');
    await soon(() => page.getByRole('link', { name: 'bob@example.net' }).count()).toBe(0);
    await page.getByLabel('Recipient’s full address').fill('');
    await page.getByLabel('Tag', { exact: true }).fill('invoice');
    await soon(() => page.getByRole('link', { name: 'ada@example.net' }).count()).toBe(0);
    await page.waitForURL(/tag=invoice/);
    await page.getByLabel('Tag', { exact: true }).fill('');
    await page.getByRole('combobox', { name: 'Status' }).click();
    await page.getByRole('option', { name: 'Delivered' }).click();
    await soon(() => page.getByRole('link', { name: 'bob@example.net' }).count()).toBe(0);
    await page.getByRole('link', { name: 'ada@example.net' }).click();

    await page.getByRole('heading', { name: 'Your order', level: 1 }).waitFor();
    const story = page.getByRole('region', { name: 'Activity' });
    await story.getByText('250 ok').waitFor();
    // A report may arrive before the server's reply; the timeline still shows it afterwards.
    expect((await story.innerText()).match(/Queued|Sent|Delivered/g)).toEqual(['Queued', 'Sent', 'Delivered']);
    const frame = page.frameLocator('iframe[title]');
    await frame.getByRole('heading', { name: 'Thank you' }).waitFor();
    await page.getByRole('tab', { name: 'HTML' }).click();
    await page.getByText('<h1>Thank you</h1>').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  test('the inbox link shows only in development', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const link = window.page.getByRole('link', { name: 'Open the inbox' });
    config.INBOX_URL = 'http://127.0.0.1:3404';
    await window.open('/emails');
    await link.waitFor();
    expect(await link.getAttribute('href')).toBe('http://127.0.0.1:3404');
    config.INBOX_URL = undefined;
    await window.page.reload();
    await window.page.getByText('No emails yet').waitFor();
    await soon(() => link.count()).toBe(0);
  });
});
