import { testApi } from '@postroom/testkit';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { accessibilityViolations, inBrowser, scrollsHorizontally, SIZES, soon, windowOf } from './browser.ts';
import { readyProject } from './ready-project.ts';

const PHONE = { ...SIZES.phone, isTouch: true };

/** Fields with text below 16 pixels, for which Safari zooms in, and buttons lower than a finger hits. */
const hardToTouch = (page: Page) =>
  page.evaluate(`(() => {
    const isShown = (element) => element.checkVisibility({ visibilityProperty: true }) && element.closest('[aria-hidden=true]') === null;
    const name = (element) => (element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent).trim();
    const reach = (element) => {
      const after = getComputedStyle(element, '::after');
      const around = after.content === 'none' ? 0 : -Number.parseFloat(after.top);
      return element.getBoundingClientRect().height + 2 * Math.max(0, around);
    };
    const fields = [...document.querySelectorAll('input:not([type=checkbox], [type=radio], [type=hidden]), textarea, [contenteditable=true]')];
    return [
      ...fields.filter((field) => isShown(field) && Number.parseFloat(getComputedStyle(field).fontSize) < 16).map((field) => 'text: ' + name(field)),
      ...[...document.querySelectorAll('button')].filter((button) => isShown(button) && reach(button) < 32).map((button) => 'height: ' + name(button)),
    ];
  })()`);

inBrowser('on a phone', () => {
  test('fields do not make the page zoom, and buttons are large enough to touch', async () => {
    const api = await readyProject();
    await api.post('/v1/custom-fields', { label: 'City', key: 'city', type: 'text' });
    const campaign = (await api.post('/v1/campaigns', { name: 'Spring', html: '<p>Hi</p>' })).body.data.id;
    await using window = await windowOf(api, 'owner', PHONE);
    const { page } = window;
    for (const path of ['/fields', `/campaigns/${campaign}`, '/segments/new']) {
      await window.open(path);
      await page.locator('#content :is(input, button)').nth(1).waitFor();
      if (path.includes(campaign)) await page.getByRole('textbox', { name: 'HTML' }).waitFor();
      await soon(() => page.locator('[aria-busy=true]').count()).toBe(0);
      expect(await hardToTouch(page), path).toEqual([]);
      expect(await scrollsHorizontally(page), path).toBe(false);
    }
    await page.getByRole('button', { name: /Open account menu/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
    expect(await hardToTouch(page), 'menu').toEqual([]);
  });

  test('all contacts of a page are selected at once', async () => {
    const api = await testApi();
    await api.contact('ada@example.com');
    await api.contact('bob@example.com');
    await using window = await windowOf(api, 'owner', PHONE);
    const { page } = window;
    await window.open('/contacts');
    await page.getByText('Select all', { exact: true }).click();
    await page.getByText('2 selected').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    expect(await scrollsHorizontally(page)).toBe(false);
  });
});
