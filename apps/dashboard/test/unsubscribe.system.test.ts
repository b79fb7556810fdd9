import { newId, pool } from '@postroom/platform';
import { signedIn, testApi } from '@postroom/testkit';
import { unsubscribeUrl } from '@postroom/unsubscribe';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import {
  accessibilityViolations,
  inBrowser,
  openWindow,
  PNG,
  SCHEMES,
  scrollsHorizontally,
  SIZES,
  soon,
} from './browser.ts';

/** A project with a brand, and the unsubscribe link of a message to one of its contacts. */
async function recipient() {
  const api = await testApi();
  const owner = await signedIn(api);
  const { body } = await owner.graphql(
    `mutation ($logo: String!) {
      setBrandColor(color: "#7a1fa2") { id } setProjectLogo(image: $logo) { id } setPostalAddress(address: "Acme Ltd\\n1 Main Street") { id }
    }`,
    { logo: PNG.toString('base64') },
  );
  expect(body.errors).toBeUndefined();
  const contact = await api.contact('ada@example.net');
  const id = newId('eml');
  await pool.query(
    `INSERT INTO messages (id, project_id, contact_id, email, state) VALUES ($1, $2, $3, 'ada@example.net', 'accepted')`,
    [id, api.projectId, contact.id],
  );
  const statusOf = async () => (await api.get(`/v1/contacts/${contact.id}`)).body.data.suppressionStatus;
  return {
    api,
    statusOf,
    link: new URL(unsubscribeUrl(id, { projectId: api.projectId, email: 'ada@example.net' })).pathname,
  };
}

const logoWidth = (page: Page) => page.evaluate<number>("document.querySelector('header img').naturalWidth");
const styleOf = (page: Page, selector: string, property: string) =>
  page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).${property}`);

inBrowser('the unsubscribe page', () => {
  test('unsubscribes and undoes it by mouse, then by keyboard, and says what it did', async () => {
    const { api, statusOf, link } = await recipient();
    await using window = await openWindow(api);
    const { page } = window;
    await page.goto(link);
    const unsubscribes = page.getByRole('button', { name: 'Unsubscribe' });
    const subscribes = page.getByRole('button', { name: 'Subscribe again' });
    for (const press of [
      (button: typeof unsubscribes) => button.click(),
      async (button: typeof unsubscribes) => {
        await page.keyboard.press('Tab');
        await soon(() => button.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
        await page.keyboard.press('Enter');
      },
    ]) {
      await press(unsubscribes);
      await page.getByRole('heading', { name: 'You are unsubscribed' }).waitFor();
      await soon(statusOf).toBe('unsubscribed');
      await press(subscribes);
      await page.getByRole('heading', { name: 'You are subscribed again' }).waitFor();
      await soon(statusOf).toBe('none');
    }
  });

  test('has the logo, color and postal address of the project, in both color schemes and sizes', async () => {
    const { api, link } = await recipient();
    for (const colorScheme of SCHEMES) {
      for (const size of Object.values(SIZES)) {
        await using window = await openWindow(api, undefined, { ...size, colorScheme });
        const { page } = window;
        await page.goto(link);
        expect(await logoWidth(page)).toBe(1);
        expect(await styleOf(page, 'button', 'backgroundColor')).toBe('rgb(122, 31, 162)');
        expect(await styleOf(page, 'header', 'borderBottomColor')).toBe('rgb(122, 31, 162)');
        await page.getByText('1 Main Street').waitFor();
        expect(await accessibilityViolations(page), `${colorScheme}, ${size.width}`).toEqual([]);
        await page.getByRole('button', { name: 'Unsubscribe' }).click();
        await page.getByRole('button', { name: 'Subscribe again' }).waitFor();
        expect(await logoWidth(page)).toBe(1);
        expect(await accessibilityViolations(page), `${colorScheme}, ${size.width}`).toEqual([]);
        await page.getByRole('button', { name: 'Subscribe again' }).click();
      }
    }
  });

  test('follows the font size of the browser on a narrow phone, and shows buttons and their focus', async () => {
    const { api, link } = await recipient();
    await using window = await openWindow(api, undefined, { width: 320, height: 640 });
    const { page } = window;
    await page.goto(link);
    await page.evaluate(`document.documentElement.style.fontSize = '200%'`);
    expect(await styleOf(page, 'p', 'fontSize')).toBe('32px');
    expect(await scrollsHorizontally(page)).toBe(false);
    await page.keyboard.press('Tab');
    expect(await styleOf(page, 'button', 'outlineColor')).toBe('rgb(28, 36, 48)');
    await page.emulateMedia({ forcedColors: 'active' });
    expect(await styleOf(page, 'button', 'borderTopStyle')).toBe('solid');
    await page.emulateMedia({ forcedColors: 'none' });
  });
});
