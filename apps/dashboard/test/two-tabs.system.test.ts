import { testApi } from '@postroom/testkit';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { inBrowser, soon, windowOf } from './browser.ts';

/** Opens the page that a tab shows in a second one. */
async function secondTab(page: Page): Promise<Page> {
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByRole('heading', { level: 1 }).waitFor();
  return other;
}

inBrowser('the same record in two tabs', () => {
  test('settings save only what was changed, so that they keep what the other tab saved', async () => {
    const api = await testApi();
    const endpoint = { url: 'https://example.com/hook', events: ['*'] };
    const { id } = (await api.post('/v1/webhooks', endpoint)).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    const save = async (tab: Page) => {
      await tab.getByRole('button', { name: 'Save' }).first().click();
    };
    await window.open(`/webhooks/${id}/edit`);
    const other = await secondTab(page);
    await other.getByLabel('URL').fill('https://example.com/new');
    await save(other);
    await other.getByText('Endpoint updated.').waitFor();
    await page.getByLabel('Description').fill('Orders');
    await save(page);
    await page.getByText('Endpoint updated.').waitFor();
    const changed = { url: 'https://example.com/new', description: 'Orders' };
    expect((await api.get(`/v1/webhooks/${id}`)).body.data).toMatchObject(changed);

    for (const tab of [page, other]) await tab.goto(`/p/${api.projectId}/sending`);
    const rate = (tab: Page) => tab.getByLabel('Maximum messages per second');
    await page.getByLabel('Frequency cap', { exact: true }).fill('3');
    await rate(other).fill('7');
    await save(other);
    await other.getByText('Limits saved.').waitFor();
    await save(page);
    await page.getByText('Limits saved.').waitFor();
    await page.reload();
    await soon(() => rate(page).inputValue()).toBe('7');
    expect(await page.getByLabel('Frequency cap', { exact: true }).inputValue()).toBe('3 messages');
  });
});
