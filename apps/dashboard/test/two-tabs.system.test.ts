import { signedIn, testApi } from '@postroom/testkit';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { inBrowser, soon, windowOf } from './browser.ts';
import { readyProject } from './ready-project.ts';

/** Opens the page that a tab shows in a second one. */
async function secondTab(page: Page): Promise<Page> {
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByRole('heading', { level: 1 }).waitFor();
  return other;
}

inBrowser('the same record in two tabs', () => {
  test('the new name of a template stays when the other tab saves its content, and nothing unseen is published', async () => {
    const api = await testApi();
    const { id } = (await api.post('/v1/templates', { name: 'Welcome', subject: 'Hello', body: '<p>Hi</p>' })).body
      .data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/templates/${id}`);
    const other = await secondTab(page);
    await other.getByLabel('Name').fill('Greeting');
    await other.getByRole('button', { name: 'Save draft' }).click();
    await other.getByText('Saved.', { exact: true }).waitFor();
    await page.getByLabel('Subject').fill('Welcome');
    await page.getByRole('button', { name: 'Save draft' }).click();
    await page.getByRole('heading', { name: 'Greeting', level: 1 }).waitFor();
    const template = async () => (await api.get(`/v1/templates/${id}`)).body.data;
    await soon(template).toMatchObject({ name: 'Greeting', subject: 'Welcome', version: 2 });

    await api.patch(`/v1/templates/${id}`, { subject: 'Unseen' });
    const publish = page.getByRole('button', { name: 'Publish', exact: true });
    await publish.click();
    await page.getByText('modified since').waitFor();
    expect((await template()).status).toBe('draft');
    await soon(() => page.getByLabel('Subject').inputValue()).toBe('Unseen');
    await publish.click();
    await page.getByText('Template published.').waitFor();
  });

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

    const owner = await signedIn(api);
    const relay = { name: 'Relay', smtp: { host: 'smtp.example.com', connections: 4 } };
    await owner.graphql('mutation ($input: MailProviderInput!) { createMailProvider(input: $input) { id } }', {
      input: relay,
    });
    const edit = async (tab: Page, label: string, value: string) => {
      const dialog = tab.getByRole('dialog', { name: 'Edit provider' });
      await dialog.getByLabel(label).fill(value);
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    for (const tab of [page, other]) {
      await tab.reload();
      await tab.getByRole('button', { name: 'Actions for Relay' }).click();
      await tab.getByRole('menuitem', { name: 'Edit' }).click();
      await tab.getByRole('dialog', { name: 'Edit provider' }).waitFor();
    }
    await edit(other, 'Connections', '7');
    await edit(page, 'Mail server', 'smtp.other.example');
    const { body } = await owner.graphql('{ mailProviders { host connections } }');
    expect(body.data.mailProviders).toEqual([{ host: 'smtp.other.example', connections: 7 }]);
  });

  test('a campaign that was edited meanwhile is sent only once its page shows the edit', async () => {
    const api = await readyProject();
    const group = (await api.get('/v1/groups')).body.data[0];
    const draft = { name: 'News', subject: 'News', from_email: 'news@example.com', html: '<p>Hi</p>' };
    const { id } = (await api.post('/v1/campaigns', { ...draft, group_ids: [group.id] })).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    await page.getByRole('button', { name: 'Send now' }).click();
    const dialog = page.getByRole('dialog', { name: 'Send this campaign now?' });
    await dialog.waitFor();
    await api.patch(`/v1/campaigns/${id}`, { subject: 'Unseen' });
    await dialog.getByRole('button', { name: 'Send', exact: true }).click();
    await dialog.getByText('modified since').waitFor();
    expect((await api.get(`/v1/campaigns/${id}`)).body.data.status).toBe('draft');
    await soon(() => page.getByLabel('Subject', { exact: true }).inputValue()).toBe('Unseen');
    await dialog.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('Sending News now.').waitFor();
  });

  test('a campaign that was edited meanwhile is scheduled only once its page shows the edit', async () => {
    const api = await readyProject();
    const group = (await api.get('/v1/groups')).body.data[0];
    const draft = { name: 'News', subject: 'News', from_email: 'news@example.com', html: '<p>Hi</p>' };
    const { id } = (await api.post('/v1/campaigns', { ...draft, group_ids: [group.id] })).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/campaigns/${id}`);
    await page.getByRole('button', { name: 'Schedule', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Schedule campaign' });
    await dialog.waitFor();
    await api.patch(`/v1/campaigns/${id}`, { subject: 'Unseen' });
    const schedule = dialog.getByRole('button', { name: 'Schedule', exact: true });
    await schedule.click();
    await dialog.getByText('modified since').waitFor();
    expect((await api.get(`/v1/campaigns/${id}`)).body.data.status).toBe('draft');
    await soon(() => page.getByLabel('Subject', { exact: true }).inputValue()).toBe('Unseen');
    await schedule.click();
    await page.getByText(/^It starts on /).waitFor();
  });
});
