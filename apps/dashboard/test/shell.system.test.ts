import type { Locator } from 'playwright-core';
import { pool, record } from '@postroom/platform';
import { signedIn, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { inBrowser, openWindow, windowOf, soon } from './browser.ts';

/** What may be loaded before the first page shows, in bytes as they are sent. */
const FIRST_LOAD_LIMIT = 260_000;

inBrowser('the frame', () => {
  test('the command palette opens a page by keyboard', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/members');
    await page.keyboard.press('Control+k');
    await page.getByRole('textbox', { name: 'Go to a page or a project' }).waitFor();
    await page.keyboard.type('endpoi');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
  });

  test('the first Tab stop skips the navigation', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/members');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
  });

  test('dialogs, menus and lists open by keyboard, trap focus, and restore it on Escape', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    const isFocused = (element: Locator) => element.evaluate((node) => node === node.ownerDocument.activeElement);
    await window.open('/keys');

    const create = page.getByRole('button', { name: 'Create API key' }).first();
    await create.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await soon(() => page.evaluate('document.activeElement.closest("[role=dialog]") !== null')).toBe(true);
    const stops = await dialog.locator('button, input').count();
    for (let stop = 0; stop <= stops; stop++) {
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.closest("[role=dialog]") !== null')).toBe(true);
    }
    const choice = dialog.getByLabel('Projects', { exact: true }).first();
    await choice.focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('option').first().waitFor({ state: 'hidden' });
    expect(await isFocused(choice)).toBe(true);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await soon(() => isFocused(create)).toBe(true);

    const projects = page.getByRole('button', { name: /Switch project/ });
    await projects.focus();
    await page.keyboard.press('Enter');
    const item = page.getByRole('menuitem', { name: 'New project' });
    await item.waitFor();
    await page.keyboard.press('End');
    await soon(() => isFocused(item)).toBe(true);
    await page.keyboard.press('Escape');
    await item.waitFor({ state: 'detached' });
    await soon(() => isFocused(projects)).toBe(true);
  });

  test('on a phone the navigation is behind a button and closes on selection', async () => {
    const api = await testApi();
    const owner = await signedIn(api);
    await using window = await openWindow(api, owner, { width: 390, height: 844 });
    const { page } = window;
    await window.open('/members');
    const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Audit log' });
    expect(await link.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Open menu' }).click();
    await link.click();
    await page.getByRole('heading', { name: 'Audit log' }).waitFor();
    await soon(() => link.isVisible()).toBe(false);
  });

  test('a page adapts to phone width within one frame', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/members');
    await page.evaluate(`globalThis.slides = [];
      document.addEventListener('transitionrun', ({ target, propertyName }) => {
        if (target.id === 'content') slides.push(propertyName);
      })`);
    await page.setViewportSize({ width: 390, height: 844 });
    await soon(async () => (await page.getByRole('heading', { level: 1 }).boundingBox())?.x).toBe(16);
    expect(await page.evaluate('slides')).toEqual([]);
  });

  test('the chosen color scheme persists without a white flash', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/members');
    await page.getByRole('button', { name: /Signed in as/ }).click();
    await page.getByRole('menuitem', { name: 'Dark mode' }).click();
    const scheme = () => page.evaluate('document.documentElement.dataset.mantineColorScheme');
    await soon(scheme).toBe('dark');
    await page.goto(`/p/${api.projectId}/members`, { waitUntil: 'commit' });
    await page.waitForFunction('document.body !== null');
    expect(await scheme()).toBe('dark');
  });

  test('an offline page keeps its data, shows a banner, and recovers by itself', async () => {
    const api = await testApi();
    const { id } = (await api.post('/v1/webhooks', { url: 'https://example.com/x', events: ['*'] })).body.data;
    await using window = await windowOf(api);
    const { page, context } = window;
    await window.open(`/webhooks/${id}`);
    await page.getByText('Live', { exact: true }).waitFor();
    await context.setOffline(true);
    await page.getByText('You are offline.').waitFor();
    await page.getByRole('heading', { name: 'example.com', level: 1 }).waitFor();
    await record(pool, api.projectId, [{ type: 'contact.created', data: {} }]);
    await context.setOffline(false);
    await page.getByText('You are offline.').waitFor({ state: 'detached' });
    await page.getByRole('table', { name: 'Deliveries' }).getByText('contact.created').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
  });

  test('a seventh tab with live updates still loads', async () => {
    const api = await testApi();
    const { id } = (await api.post('/v1/webhooks', { url: 'https://example.com/x', events: ['*'] })).body.data;
    await using window = await windowOf(api);
    for (let tab = 0; tab < 7; tab++) {
      const page = await window.context.newPage();
      await page.goto(`/p/${api.projectId}/webhooks/${id}`);
      await page.getByRole('heading', { name: 'example.com', level: 1 }).waitFor();
      // Chromium without a screen takes every tab for visible; a person sees one.
      await page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`);
    }
  });

  test('the initial bundle is small', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    let bytes = 0;
    page.on('response', (response) => {
      if (/\.(js|css)$/.test(new URL(response.url()).pathname))
        bytes += Number(response.headers()['content-length'] ?? 0);
    });
    await window.open('');
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(FIRST_LOAD_LIMIT);
  });
});
