import { readFile } from 'node:fs/promises';
import { db } from '@postroom/platform';
import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { inBrowser, accessibilityViolations, windowOf } from './browser.ts';

inBrowser('a person who asks for it', () => {
  test('gets a data export, and is erased after typing the address', async () => {
    const api = await testApi();
    const ada = await api.contact('ada@example.com');
    await using window = await windowOf(api, 'admin');
    const { page } = window;
    await window.open(`/contacts/${ada.id}`);
    const contactPath = new URL(page.url()).pathname;
    await page.getByRole('button', { name: /^More for/ }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Export personal data' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('ada@example.com.json');
    expect(await readFile(await download.path(), 'utf8')).toContain('"ada@example.com"');

    await page.getByRole('button', { name: /^More for/ }).click();
    await page.getByRole('menuitem', { name: 'Erase personal data' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Erase' }).isDisabled()).toBe(true);
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('textbox').fill('ada@example.com');
    await dialog.getByRole('button', { name: 'Erase' }).click();
    await page
      .getByText('The contact’s personal data was erased and the address will never be emailed again.')
      .waitFor();
    await page.getByRole('heading', { name: 'Contacts', level: 1 }).waitFor();
    expect(await db.contact.count({ where: { projectId: api.projectId } })).toBe(0);
    // The page of the contact, which the browser has loaded before, shows nothing of it any more.
    await page.evaluate((path) => {
      history.pushState({}, '', path);
      dispatchEvent(new PopStateEvent('popstate'));
    }, contactPath);
    await page.getByText('No such contact in this project.').waitFor();
    expect(await page.getByRole('main').innerText()).not.toContain('ada');
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Contact');
    expect(await page.getByRole('button', { name: 'Unsubscribe' }).count()).toBe(0);
  });

  test('can be erased only by project managers', async () => {
    const api = await testApi();
    const ada = await api.contact('ada@example.com');
    await using window = await windowOf(api, 'member');
    const { page } = window;
    await window.open(`/contacts/${ada.id}`);
    await page.getByRole('button', { name: /^More for/ }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).waitFor();
    expect(
      await page
        .getByRole('menuitem')
        .filter({ hasText: /Erase|Download/ })
        .count(),
    ).toBe(0);
  });
});
