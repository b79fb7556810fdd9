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

  test('the steps of a journey are added, edited and saved', async () => {
    const api = await readyProject();
    const definition = { entry: { type: 'manual' }, steps: [{ id: 'pause', type: 'wait', for: { days: 1 } }] };
    const { id } = (await api.post('/v1/journeys', { name: 'Thanks', definition })).body.data;
    await using window = await windowOf(api, 'owner', PHONE);
    const { page } = window;
    await window.open(`/journeys/${id}`);
    await page.getByRole('button', { name: 'Add a step after pause' }).click();
    const exit = page.getByRole('menuitem', { name: 'Exit' });
    await exit.waitFor();
    expect(await scrollsHorizontally(page)).toBe(false);
    const box = await page.getByRole('menu').boundingBox();
    expect(box && { left: box.x >= 0, right: box.x + box.width <= PHONE.width }).toEqual({ left: true, right: true });
    await exit.click();
    await page.locator('[data-node="pause"]').click();
    const panel = page.getByRole('region', { name: 'Wait: pause' });
    await panel.getByLabel('Days').fill('3');
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const { steps } = (await api.get(`/v1/journeys/${id}`)).body.data.definition;
    expect(steps).toMatchObject([{ id: 'pause', for: { days: 3 }, next: steps[1].id }, { type: 'exit' }]);
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
    // As wide as it is at a zoom of 200 %.
    await page.setViewportSize({ width: PHONE.width / 2, height: PHONE.height / 2 });
    expect(await scrollsHorizontally(page)).toBe(false);
  });
});

inBrowser('by keyboard', () => {
  test('when a row is removed, the focus goes to the next one, and to the last after it', async () => {
    const api = await testApi();
    const emails = ['ada@example.com', 'bob@example.com', 'eve@example.com', 'zoe@example.com'];
    for (const email of emails) await api.contact(email);
    const { id } = (await api.post('/v1/groups', { name: 'Beta', emails })).body.data;
    for (const key of ['city', 'country']) await api.post('/v1/custom-fields', { label: key, key, type: 'text' });
    await using window = await windowOf(api);
    const { page } = window;
    const focused = () => page.evaluate('document.activeElement?.textContent');
    await window.open(`/groups/${id}`);
    const names = await page.getByRole('button', { name: /^Remove/ }).allTextContents();
    expect(names).toHaveLength(4);
    await page.getByRole('button', { name: names[1] ?? '' }).focus();
    await page.keyboard.press('Enter');
    await soon(focused).toBe(names[2]);
    await page.keyboard.press('Enter');
    await soon(focused).toBe(names[3]);
    await page.keyboard.press('Enter');
    await soon(focused).toBe(names[0]);

    await window.open('/fields');
    await page.getByRole('button', { name: 'Delete country' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('textbox').fill('country');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await soon(focused).toBe('Delete city');
  });
});
