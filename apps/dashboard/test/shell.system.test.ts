import { setTimeout as sleep } from 'node:timers/promises';
import type { Locator, Route } from 'playwright-core';
import { config, pool, record } from '@postroom/platform';
import { signedIn, testApi } from '@postroom/testkit';
import { expect, onTestFinished, test } from 'vitest';
import {
  accessibilityViolations,
  holdRequests,
  inBrowser,
  openWindow,
  scrollsHorizontally,
  SCHEMES,
  SIZES,
  soon,
  windowOf,
} from './browser.ts';
import { readyProject } from './ready-project.ts';

/** Buttons and badges whose label does not fit. */
const CUT_OFF = `[...document.querySelectorAll('button, a, .mantine-Badge-root')]
  .flatMap((each) => [each, ...each.querySelectorAll('span')])
  .filter((each) => each.closest('.visually-hidden, .skip') === null && each.clientWidth > 1 && each.scrollWidth > each.clientWidth + 1)
  .filter((each) => getComputedStyle(each).overflowX !== 'visible')
  .map((each) => each.textContent)`;

inBrowser('the frame', () => {
  test('the command palette opens a page by keyboard', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/members');
    await page.keyboard.press('Control+k');
    await page.getByRole('textbox', { name: 'Search, or run a command' }).waitFor();
    await page.keyboard.type('endpoi');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
  });

  test('the command palette opens from a field, and again at once after it was closed', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/contacts');
    await page.getByRole('searchbox', { name: 'Search contacts' }).focus();
    const box = page.getByRole('textbox', { name: 'Search, or run a command' });
    for (const text of ['webh', 'membe']) {
      await page.keyboard.press('Control+k');
      await soon(() => box.evaluate('document.activeElement?.matches(".finder input")')).toBe(true);
      await page.keyboard.type(text);
      await soon(() => box.inputValue()).toBe(text);
      await page.keyboard.press('Escape');
    }
    await page.keyboard.press('Control+k');
    await page.keyboard.type('audit');
    await soon(() => box.inputValue()).toBe('audit');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor();
  });

  test('text that is typed while the command palette loads is searched for', async () => {
    const api = await testApi();
    await using window = await windowOf(api, 'owner', { isFresh: true });
    const { page } = window;
    const allow = await holdRequests(page, '**/command-palette*.js');
    await window.open('/members');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.keyboard.type('endpoint s');
    await page.keyboard.press('Backspace');
    allow();
    const box = page.getByRole('textbox', { name: 'Search, or run a command' });
    await soon(() => box.inputValue()).toBe('endpoint ');
    await soon(() => box.evaluate('document.activeElement?.matches("input")')).toBe(true);
    await page.keyboard.type('add');
    expect(await box.inputValue()).toBe('endpoint add');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('webhooks');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
    // Keys belong to the page again.
    await page.keyboard.press('Control+k');
    await soon(() => box.evaluate('document.activeElement?.matches("input")')).toBe(true);
    expect(await box.inputValue()).toBe('');
  });

  test('the command palette finds records by name, address and ID, and runs commands', async () => {
    const api = await testApi();
    const { id } = await api.contact('grace@example.net', { name: 'Grace Hopper' });
    await api.post('/v1/campaigns', { name: '50%_off: autumn' });
    await api.post('/v1/campaigns', { name: '50 offers' });
    await using window = await windowOf(api);
    const { page } = window;
    const find = async (text: string) => {
      await page.keyboard.press('Control+k');
      const box = page.getByRole('textbox', { name: 'Search, or run a command' });
      await box.fill(text);
    };
    await window.open('/members');
    await find('0%_OFF');
    await page.getByRole('button', { name: /50%_off: autumn/ }).waitFor();
    expect(await page.getByRole('button', { name: /50 offers/ }).count()).toBe(0);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '50%_off: autumn', level: 1 }).waitFor();
    await find('grace@example.net');
    await page.getByRole('button', { name: /Grace Hopper/ }).click();
    await page.waitForURL(`**/contacts/${id}`);
    await api.post('/v1/groups', { name: 'Readers of 登録', contact_ids: [id] });
    await api.post('/v1/segments', { name: 'People of 登録', filter: { field: 'email', op: 'contains', value: '@' } });
    await find('登録');
    await page.getByRole('button', { name: 'Readers of 登録 Group' }).waitFor();
    await page.getByRole('button', { name: 'People of 登録 Segment' }).click();
    await page.getByRole('heading', { name: 'People of 登録', level: 1 }).waitFor();
    await window.open('/members');
    await find(id);
    await page.getByRole('button', { name: id }).click();
    await page.waitForURL(`**/contacts/${id}`);
    await find('new temp');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'New template' }).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL(/\/templates$/);
  });

  test.each(Object.entries(SIZES))(
    'held sending is said on every page, to owners and admins: %s',
    async (_name, size) => {
      const api = await testApi();
      config.HOLD_SENDING = true;
      onTestFinished(() => void (config.HOLD_SENDING = false));
      for (const colorScheme of SCHEMES) {
        await using window = await windowOf(api, 'admin', { ...size, colorScheme });
        await window.open('/members');
        await window.page
          .getByRole('alert')
          .filter({ hasText: 'Sending is held' })
          .filter({ hasText: 'Unset HOLD_SENDING' })
          .waitFor();
        expect(await accessibilityViolations(window.page)).toEqual([]);
      }
      await using window = await windowOf(api, 'member');
      await window.open('/members');
      await new Promise((resolve) => setTimeout(resolve, 2_000)); // it asks after a second
      expect(await window.page.getByText('Sending is held').count()).toBe(0);
    },
  );

  test.each(Object.entries(SIZES))('a notification covers no button: %s', async (_name, size) => {
    const api = await testApi();
    await using window = await windowOf(api, 'owner', size);
    const { page } = window;
    await window.open('/settings');
    await page.getByLabel('Name', { exact: true }).fill('Renamed');
    await page.getByRole('button', { name: 'Save' }).first().click();
    const notification = page.getByRole('alert').filter({ hasText: 'Project renamed.' });
    await notification.waitFor();
    const covered = await page.evaluate(`(() => {
      const box = [...document.querySelectorAll('[role=alert]')].at(-1).getBoundingClientRect();
      const overlap = (a, b) => ({
        top: Math.max(a.top, b.top), bottom: Math.min(a.bottom, b.bottom),
        left: Math.max(a.left, b.left), right: Math.min(a.right, b.right),
      });
      const isEmpty = ({ top, bottom, left, right }) => bottom <= top || right <= left;
      /** What shows of a control that may be scrolled out of view. */
      const shown = (control) => {
        const scroller = control.closest('.nav-items');
        const rect = control.getBoundingClientRect();
        return scroller === null ? rect : overlap(rect, scroller.getBoundingClientRect());
      };
      return [...document.querySelectorAll('button, a[href], input, select')]
        .filter((control) => control.closest('[role=alert]') === null && control.checkVisibility({ visibilityProperty: true }))
        .filter((control) => !isEmpty(overlap(shown(control), box)))
        .map((control) => control.textContent);
    })()`);
    expect(covered).toEqual([]);
  });

  test('a gateway that does not respond is reported after eight seconds, with a retry', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/members');
    let isHanging = true;
    await page.route('**/graphql', async (route) => {
      if (!isHanging) await route.continue();
    });
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByText('The server is not responding.').waitFor();
    isHanging = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('The server is not responding.').waitFor({ state: 'detached' });
    await page.getByRole('table', { name: 'API keys' }).waitFor();
  });

  test('dates and numbers follow the locale and time zone of the browser', async () => {
    const api = await testApi();
    await using window = await windowOf(api, 'owner', { locale: 'de-DE' });
    const { page } = window;
    await window.open('/members');
    const time = page.getByRole('table', { name: 'Members' }).locator('time').first();
    const at = (await time.getAttribute('datetime')) ?? '';
    const german = new Intl.DateTimeFormat('de-DE', {
      dateStyle: 'full',
      timeStyle: 'long',
      timeZone: 'Europe/Berlin',
    });
    expect(await time.getAttribute('title')).toBe(german.format(new Date(at)));
  });

  test('on a phone a row shows all its columns, with their titles', async () => {
    const api = await testApi();
    await using window = await windowOf(api, 'owner', SIZES.phone);
    const { page } = window;
    await window.open('/members');
    const row = page.getByRole('table', { name: 'Members' }).getByRole('row').nth(1);
    await row.waitFor();
    for (const cell of await row.getByRole('cell').all()) expect(await cell.isVisible()).toBe(true);
    const title = await page.evaluate(
      `getComputedStyle(document.querySelector('.data-table tbody td:nth-child(3)'), '::before').content`,
    );
    expect(title).toMatch(/authentication/);
  });

  test('on a phone the time of a row has no title before its words', async () => {
    const api = await testApi();
    await api.post('/v1/campaigns', { name: 'Spring' });
    await using window = await windowOf(api, 'owner', SIZES.phone);
    await window.open('/campaigns');
    const cell = window.page.getByRole('cell').filter({ hasText: /^Created/ });
    await cell.waitFor();
    expect(await cell.getAttribute('data-title')).toBeNull();
  });

  test('with high contrast the current page, the chosen tab and the colors of a legend are shown', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    await page.emulateMedia({ forcedColors: 'active' });
    await window.open('/');
    const style = (selector: string, property: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element, name) => getComputedStyle(element)[name as never], property);
    expect(await style('.place[aria-current=page]', 'outlineStyle')).toBe('solid');
    expect(await style('.mantine-SegmentedControl-label[data-active]', 'outlineStyle')).toBe('solid');
    expect(await style('.chart-swatch', 'forcedColorAdjust')).toBe('none');
    await page.emulateMedia({ forcedColors: 'none' });
  });

  test('choices next to each other wrap in a narrow window with large text', async () => {
    const api = await testApi();
    await using window = await windowOf(api, 'owner', SIZES.phone);
    const { page } = window;
    await window.open('/');
    await page.getByRole('radiogroup', { name: 'Period' }).waitFor();
    await page.evaluate(`document.documentElement.style.fontSize = '200%'`);
    expect(await scrollsHorizontally(page)).toBe(false);
  });

  test('with text of 200 % on a narrow phone no page scrolls sideways, and no button or badge is cut off', async () => {
    const api = await testApi();
    await api.contact('ada.lovelace@example.com');
    const { id } = (await api.post('/v1/campaigns', { name: 'Newsletter', html: '<p>Hi</p>' })).body.data;
    await using window = await windowOf(api, 'owner', { width: 320, height: 640 });
    const { page } = window;
    for (const path of ['/', '/contacts', `/campaigns/${id}`, '/segments/new', '/webhooks/new', '/audit', '/account']) {
      await window.open(path);
      await soon(() => page.locator('[aria-busy=true]').count()).toBe(0);
      await page.evaluate(`document.documentElement.style.fontSize = '200%'`);
      // What loads later, such as styles of a part, moves what is there already.
      await soon(() => scrollsHorizontally(page), path).toBe(false);
      await soon(() => page.evaluate(CUT_OFF), path).toEqual([]);
    }
  });

  test('in a low window the whole account menu is reached by keyboard', async () => {
    const api = await testApi();
    await using window = await windowOf(api, 'owner', { width: 320, height: 256 });
    const { page } = window;
    await window.open('/keys');
    await page.getByRole('button', { name: /Open account menu/ }).click();
    const last = page.getByRole('menuitem', { name: 'Sign out' });
    await last.waitFor();
    await page.keyboard.press('End');
    await soon(async () => {
      const box = await last.boundingBox();
      return box !== null && box.y >= 0 && box.y + box.height <= 256;
    }).toBe(true);
  });

  test('in a low window the command palette shows what it found', async () => {
    const api = await testApi();
    await using window = await windowOf(api, 'owner', { width: 320, height: 256 });
    const { page } = window;
    await window.open('/keys');
    await page.keyboard.press('Control+K');
    await page.getByRole('dialog').getByRole('textbox').fill('audit');
    const found = page.getByRole('dialog').getByRole('button', { name: 'Audit log' });
    await found.waitFor();
    await soon(async () => {
      const [box, dialog] = [await found.boundingBox(), await page.getByRole('dialog').boundingBox()];
      return box !== null && dialog !== null && box.y + box.height <= dialog.y + dialog.height;
    }).toBe(true);
  });

  test('a page is printed on white, without navigation and buttons, and with tables and exact times', async () => {
    const api = await testApi();
    await api.contact('ada@example.com');
    await using window = await windowOf(api, 'owner', { colorScheme: 'dark' });
    const { page } = window;
    await window.open('/contacts');
    await page.getByRole('row').filter({ hasText: 'ada@example.com' }).waitFor();
    const scheme = 'document.documentElement.dataset.mantineColorScheme';
    expect(await page.evaluate(scheme)).toBe('dark');
    await page.evaluate(`addEventListener('beforeprint', () => (globalThis.printed = ${scheme}))`);
    await page.pdf();
    expect(await page.evaluate('printed')).toBe('light');
    await soon(() => page.evaluate(scheme)).toBe('dark');
    await page.setViewportSize({ width: 700, height: 1000 });
    await page.emulateMedia({ media: 'print' });
    await page.getByRole('navigation', { name: 'Pages' }).waitFor({ state: 'hidden' });
    expect(await page.getByRole('button').filter({ visible: true }).count()).toBe(0);
    expect(await page.evaluate(`getComputedStyle(document.querySelector('thead')).position`)).toBe('static');
    const time = page.locator('tbody time');
    expect(await time.locator('span').isVisible()).toBe(false);
    const shown = await page.evaluate(`getComputedStyle(document.querySelector('tbody time'), '::after').content`);
    expect(shown).toBe(`"${await time.getAttribute('title')}"`);
    expect(await scrollsHorizontally(page)).toBe(false);
    await page.emulateMedia({ media: null });
  });

  test('on a phone rows are told apart, leave out empty values, and are selected by touch', async () => {
    const api = await testApi();
    for (const key of ['city', 'plan'])
      await api.post('/v1/custom-fields', { key, label: `Their ${key}`, type: 'text' });
    await api.post('/v1/contacts', { email: 'ada@example.com', custom_fields: { city: 'London' } });
    await api.contact('bob@example.com');
    await using window = await windowOf(api, 'owner', SIZES.phone);
    const { page } = window;
    await window.open('/contacts');
    const row = page.getByRole('row').filter({ hasText: 'ada@example.com' });
    await row.getByText('London').waitFor();
    expect(await row.getByRole('cell').filter({ hasText: '–' }).filter({ visible: true }).count()).toBe(0);
    const borders = `[...document.querySelectorAll('tbody tr')].map((row) => getComputedStyle(row).borderBottomStyle)`;
    expect(await page.evaluate(borders)).toEqual(['solid', 'none']);
    const box = row.getByRole('checkbox');
    const { x = 0, y = 0, width = 0 } = (await box.boundingBox()) ?? {};
    await page.mouse.click(x + width + 10, y - 10);
    expect(await box.isChecked()).toBe(true);
  });

  test('a path outside of the dashboard shows a page to browsers and JSON to programs', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    const response = await page.goto('/nope');
    expect(response?.status()).toBe(404);
    await page.getByRole('heading', { name: 'Not found', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Go to your projects' }).click();
    await page.waitForURL(/\/p\//);
    const json = await fetch(`${api.url}/nope`);
    expect([json.status, await json.json()]).toMatchObject([404, { error: { code: 'not_found' } }]);
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

  test('long labels and texts of custom fields leave contacts the room for their addresses', async () => {
    const api = await testApi();
    const label = `Lifetime value of the customer, including returns ${'x'.repeat(60)}`;
    await api.post('/v1/custom-fields', { key: 'note', label, type: 'text' });
    const link = `https://example.com/${'path/'.repeat(40)}`;
    await api.post('/v1/contacts', { email: 'ada.lovelace@example.com', name: 'Ada', custom_fields: { note: link } });
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/contacts');
    const lines = await page.getByText('ada.lovelace@example.com').evaluate((address) => {
      const range = address.ownerDocument.createRange();
      range.selectNodeContents(address);
      return range.getClientRects().length;
    });
    expect(lines).toBe(1);
    const isCut = `(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector('.table-scroll'))`;
    expect(await page.evaluate(isCut)).toBe(false);
  });

  test('on a phone long names, URLs and values break, and conditions on events keep their width', async () => {
    const api = await testApi();
    const name = 'W'.repeat(150);
    const created = async (path: string, body: object) => (await api.post(path, body)).body.data.id as string;
    const template = await created('/v1/templates', { name, subject: 'Hi', body: '<p>Hi</p>' });
    const endpoint = await created('/v1/webhooks', { url: `https://example.com/${name}`, events: ['email.sent'] });
    await api.post('/v1/custom-fields', { key: 'note', label: 'Note', type: 'text' });
    await api.post('/v1/custom-fields', { key: 'score', label: name, type: 'number' });
    await api.post('/v1/contacts', { email: 'ada@example.com', custom_fields: { note: name, score: 5 } });
    const where = [{ property: 'total', op: 'atLeast', value: 5 }];
    const filter = { field: 'event', op: 'ever', event: 'order placed', where };
    const segment = await created('/v1/segments', { name, filter });
    await using window = await windowOf(api, 'owner', SIZES.phone);
    const { page } = window;
    for (const path of [
      `/templates/${template}/versions`,
      `/webhooks/${endpoint}`,
      '/contacts',
      `/segments/${segment}`,
    ]) {
      await window.open(path);
      await soon(() => page.locator('[aria-busy=true]').count()).toBe(0);
      const isCut = `[document.documentElement, ...document.querySelectorAll('.data-table')].some(
        ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)`;
      expect(await page.evaluate(isCut), path).toBe(false);
    }
    const condition = page.getByRole('group', { name: 'Condition 1 on the event' });
    for (const input of await condition.getByRole('textbox').all())
      expect((await input.boundingBox())?.width).toBeGreaterThan(90);
  });

  test('a long name breaks in a dialog', async () => {
    const api = await testApi();
    const name = 'W'.repeat(100);
    const ada = await api.contact('ada@example.com');
    const { id } = (await api.post('/v1/groups', { name, contact_ids: [ada.id] })).body.data;
    await using window = await windowOf(api, 'owner', SIZES.phone);
    const { page } = window;
    await window.open(`/groups/${id}`);
    await page.getByRole('button', { name: `More for ${name}` }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').waitFor();
    const isCut = `[...document.querySelectorAll('[role=dialog], [role=dialog] *')].some(
      ({ scrollWidth, clientWidth, tagName }) => tagName !== 'INPUT' && clientWidth > 0 && scrollWidth > clientWidth)`;
    expect(await page.evaluate(isCut)).toBe(false);
  });

  test('a button whose request is refused keeps the focus, so that the next Tab stays in its dialog', async () => {
    const api = await testApi();
    const ada = await api.contact('ada@example.com');
    await api.post('/v1/groups', { name: 'Beta', contact_ids: [ada.id] });
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/groups');
    await page.getByRole('button', { name: 'New group' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Beta');
    await page.getByLabel('Or paste addresses').fill('ada@example.com');
    // Slow enough for the browser to take the focus from the button. No field is wrong: that would get the focus.
    await page.route('**/graphql', async (route) => {
      await sleep(200);
      await route.abort();
    });
    const dialog = page.getByRole('dialog');
    const create = dialog.getByRole('button', { name: 'Create' });
    await create.focus();
    await page.keyboard.press('Enter');
    await dialog.getByText("Can't reach the server").waitFor();
    await soon(() => create.evaluate((node) => node === node.ownerDocument.activeElement)).toBe(true);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.closest("[role=dialog]") !== null')).toBe(true);
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('the first problem of a long form is brought into sight', async () => {
    const api = await readyProject();
    await api.post('/v1/journeys', { name: 'Welcome', definition: { entry: { type: 'manual' }, steps: [] } });
    await using window = await windowOf(api);
    const { page } = window;
    const isSeen = (element: Locator) =>
      element.evaluate((node) => {
        const { top, bottom, left } = node.getBoundingClientRect();
        const { elementFromPoint, defaultView } = node.ownerDocument;
        const shown = elementFromPoint.call(node.ownerDocument, left + 2, top + 2);
        return bottom <= (defaultView?.innerHeight ?? 0) && shown !== null && (node === shown || node.contains(shown));
      });
    const focused = () => page.evaluate('document.activeElement.labels?.[0].textContent');

    await window.open('/forms/new');
    const create = page.getByRole('button', { name: 'Create form' });
    await create.click();
    await soon(focused).toBe('Name');
    expect(await isSeen(page.getByLabel('Name'))).toBe(true);
    await page.getByLabel('Name').fill('Newsletter');
    await page.getByRole('combobox', { name: 'From' }).fill('hello@example.com');
    await page.getByRole('combobox', { name: 'Allowed origins' }).fill('no origin');
    await page.keyboard.press('Enter');
    await create.click();
    await page.getByText(/^Entry 1: /).waitFor();
    await soon(focused).toBe('Allowed origins');

    await window.open('/journeys');
    await page.getByRole('button', { name: 'New journey' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Welcome');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Is already in use').waitFor();
    await soon(focused).toBe('Name');
    await page.route('**/graphql', (route) => route.abort());
    await dialog.getByRole('button', { name: 'Create' }).click();
    const alert = dialog.getByRole('alert').filter({ hasText: "Can't reach the server" });
    await alert.waitFor();
    await soon(() => isSeen(alert)).toBe(true);
    await page.unrouteAll({ behavior: 'wait' });
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

    const filter = { field: 'email', op: 'endsWith', value: '.com' };
    const { id } = (await api.post('/v1/segments', { name: 'All', filter })).body.data;
    await window.open(`/segments/${id}`);
    const more = page.getByRole('button', { name: 'More for All' });
    await more.focus();
    await page.keyboard.press('Enter');
    const remove = page.getByRole('menuitem', { name: 'Delete' });
    await remove.focus();
    await page.keyboard.press('Enter');
    await dialog.getByLabel('Type All to confirm').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await soon(() => isFocused(more)).toBe(true);
  });

  test('a new page gets the focus if the focused element is gone', async () => {
    const api = await testApi();
    await api.contact('ada@example.com', { name: 'Ada' });
    await using window = await windowOf(api);
    const { page } = window;
    const focused = () => page.evaluate('document.activeElement.id || document.activeElement.textContent');
    await window.open('/contacts');
    expect(await focused()).not.toBe('content');
    await page.getByRole('link', { name: 'Ada' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Ada', level: 1 }).waitFor();
    await soon(focused).toBe('content');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Contacts');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Add contact' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByLabel('Email').fill('bob@example.com');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'bob', level: 1 }).waitFor();
    await soon(focused).toBe('content');
    // A link in the navigation remains on the page, so it keeps the focus.
    await page.getByRole('link', { name: 'Groups' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Groups', level: 1 }).waitFor();
    expect(await focused()).toBe('Groups');
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

  test('a project with a long name leaves the header its other buttons on a window of 320 pixels', async () => {
    const api = await testApi();
    await pool.query(`UPDATE projects SET name = repeat('W', 200) WHERE id = $1`, [api.projectId]);
    await using window = await windowOf(api, 'owner', { width: 320 });
    const { page } = window;
    await window.open('/webhooks');
    await page.locator('.live').waitFor();
    expect(await scrollsHorizontally(page)).toBe(false);
    const user = await page.getByRole('button', { name: /Signed in as/ }).boundingBox();
    expect((user?.x ?? 0) + (user?.width ?? 0)).toBeLessThanOrEqual(320);
  });

  test.each(SCHEMES)('the borders of fields have a contrast of 3:1: %s', async (colorScheme) => {
    const api = await testApi();
    await using window = await windowOf(api, 'owner', { colorScheme });
    for (const path of ['/contacts', '/webhooks/new', '/sending']) {
      await window.open(path);
      await window.page.locator('input').first().waitFor();
      expect(await window.page.evaluate(FAINT_FIELDS), path).toEqual([]);
    }
  });

  test('the chosen color scheme persists without a white flash', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/members');
    await page.getByRole('button', { name: /Signed in as/ }).click();
    await page.getByRole('menuitemradio', { name: 'Dark' }).click();
    const scheme = () => page.evaluate('document.documentElement.dataset.mantineColorScheme');
    await soon(scheme).toBe('dark');
    await page.goto(`/p/${api.projectId}/members`, { waitUntil: 'commit' });
    await page.waitForFunction('document.body !== null');
    expect(await scheme()).toBe('dark');
    await page.getByRole('heading', { level: 1 }).waitFor();
    const current = page.getByRole('navigation').getByRole('link', { name: 'Members' });
    // As lighter as it is darker in the light scheme; axe does not compare grounds.
    expect(await current.evaluate((link) => getComputedStyle(link).backgroundColor)).toBe('rgba(85, 163, 137, 0.2)');
    await page.getByRole('button', { name: /Signed in as/ }).click();
    await page.getByRole('menuitemradio', { name: 'System', checked: false }).click();
    await soon(scheme).toBe('light');
    await page.emulateMedia({ colorScheme: 'dark' });
    await soon(scheme).toBe('dark');
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
    await page.getByText('Offline', { exact: true }).waitFor();
    expect(await page.getByText('Live', { exact: true }).count()).toBe(0);
    await page.getByRole('heading', { name: 'example.com', level: 1 }).waitFor();
    await record(pool, api.projectId, [{ type: 'contact.created', data: {} }]);
    await context.setOffline(false);
    await page.getByText('You are offline.').waitFor({ state: 'detached' });
    await page.getByRole('table', { name: 'Deliveries' }).getByText('contact.created').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
  });

  test('offline, pages that were never opened can be, and say on a separate line what is wrong', async () => {
    const api = await testApi();
    await using window = await windowOf(api, 'owner', { prefetches: true });
    const { page, context } = window;
    await window.open('');
    const names = await page.evaluate(`fetch('/app/files.json').then((response) => response.json())`);
    const isLoaded = `(names) => {
      const loaded = new Set(performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname.slice(1)));
      return names.every((name) => loaded.has(name));
    }`;
    await page.evaluate('performance.setResourceTimingBufferSize(1000)');
    await soon(() => page.evaluate(`(${isLoaded})(${JSON.stringify(names)})`)).toBe(true);
    await context.setOffline(true);
    await page.getByText('You are offline.').waitFor();
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    const titles = await links.allTextContents();
    expect(titles.length).toBeGreaterThan(15);
    for (const title of titles.filter((each) => each !== 'Home')) {
      await links.filter({ hasText: title }).first().click();
      await page.getByRole('heading', { level: 1 }).filter({ hasNotText: 'Home' }).waitFor();
      expect(await page.getByText('Live', { exact: true }).count()).toBe(0);
      expect(await page.getByText('This page could not be loaded').count()).toBe(0);
    }
    await page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor();
    await page.getByText("Can't reach the server. Check your connection.", { exact: true }).first().waitFor();
    // What was seen before stays, with what is wrong above it.
    await links.filter({ hasText: 'Home' }).click();
    await page.getByRole('region', { name: 'Over time' }).getByText("Can't reach the server.").waitFor();
    await page.getByText('Last updated').first().waitFor();
    await context.setOffline(false);
    await page.getByText("Can't reach the server.").first().waitFor({ state: 'detached' });
  });

  test('offline, a page whose code is not loaded says so, and opens when the connection is back', async () => {
    const api = await testApi();
    await using window = await windowOf(api, 'owner', { isFresh: true });
    const { page, context } = window;
    await window.open('/groups');
    await context.setOffline(true);
    await page.getByText('You are offline.').waitFor();
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Members' }).click();
    await page.getByRole('heading', { name: 'You are offline' }).waitFor();
    await context.setOffline(false);
    await page.getByRole('heading', { name: 'Members', level: 1 }).waitFor();
  });

  test('a gateway that does not respond to the first request, a sign-in or a change is reported, with a retry', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    let isHanging = true;
    const hang = async (route: Route) => {
      if (!isHanging) await route.continue();
    };
    await page.route('**/graphql', hang);
    await page.goto(`/p/${api.projectId}/settings`);
    await page.getByText('The server is not responding.').waitFor();
    isHanging = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Renamed');
    isHanging = true;
    await page.getByRole('button', { name: 'Save' }).first().click();
    await page.getByText('your change may not be saved').waitFor();
    // Also with reduced motion, for which the library leaves out where it belongs.
    expect(await page.locator('.mantine-Button-loader').first().evaluate(offCenter)).toBeLessThan(2);
    await page.unroute('**/graphql', hang);
    await page.route('**/app/auth/sign-in/email', async () => {});
    await page.goto('/sign-in');
    await page.getByLabel('Email').fill('ada@example.com');
    await page.getByLabel('Password', { exact: true }).fill('secret');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The server is not responding.').waitFor();
    expect(await page.getByRole('button', { name: 'Sign in' }).isEnabled()).toBe(true);
  });

  test('on a slow network a page shows a skeleton, and the navigation where the user is going', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    const allow = await holdRequests(page, '**/assets/contacts-*.js');
    await window.open('');
    const link = (name: string) => page.getByRole('navigation').getByRole('link', { name, exact: true });
    await link('Contacts').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('status', { name: 'Loading' }).waitFor();
    expect(await link('Contacts').getAttribute('aria-current')).toBe('page');
    expect(await link('Home').getAttribute('aria-current')).toBeNull();
    allow();
    await page.getByRole('heading', { name: 'Contacts', level: 1 }).waitFor();
    expect(await link('Contacts').getAttribute('aria-current')).toBe('page');
  });

  test('a seventh tab with live updates still loads', async () => {
    const api = await testApi();
    const { id } = (await api.post('/v1/webhooks', { url: 'https://example.com/x', events: ['*'] })).body.data;
    await using window = await windowOf(api);
    for (let tab = 0; tab < 7; tab++) {
      const page = await window.context.newPage();
      await page.goto(`/p/${api.projectId}/webhooks/${id}`);
      await page.getByRole('heading', { name: 'example.com', level: 1 }).waitFor();
      // Headless Chromium treats every tab as visible.
      await page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`);
    }
  });
});

/** How far a loader is from the center of its button, in pixels. */
function offCenter(loader: Element): number {
  const centers = [loader, loader.closest('button') ?? loader].map((element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return [x + width / 2, y + height / 2] as const;
  });
  const [[x1 = 0, y1 = 0] = [], [x2 = 0, y2 = 0] = []] = centers;
  return Math.hypot(x1 - x2, y1 - y2);
}

/** Fields whose border has a contrast of less than 3:1 to what is around them (WCAG 1.4.11). */
const FAINT_FIELDS = `(() => {
  const rgb = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = (color) => {
    const [r, g, b] = rgb(color).map((value) => value / 255).map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const backgroundOf = (element) => {
    const color = getComputedStyle(element).backgroundColor;
    return rgb(color)[3] === 0 ? backgroundOf(element.parentElement) : color;
  };
  return [...document.querySelectorAll('input[class*=Input], textarea')].filter((field) => !field.disabled && field.checkVisibility()).flatMap((field) => {
    const [one, other] = [luminance(getComputedStyle(field).borderTopColor), luminance(backgroundOf(field.parentElement))];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    return contrast < 3 ? [field.outerHTML.slice(0, 120) + ' ' + contrast] : [];
  });
})()`;
