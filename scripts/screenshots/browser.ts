import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import type { System } from '../demo/system.ts';

/** Starts Chromium with rendering that does not depend on the machine. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--force-color-profile=srgb', '--font-render-hinting=none'],
  });

/** Signs the owner in, for all pages of the context. */
export async function signIn(context: BrowserContext, { url, owner }: System): Promise<void> {
  const page = await context.newPage();
  await page.goto(`${url}/sign-in`);
  await page.getByLabel('Email').fill(owner.email);
  await page.getByLabel('Password', { exact: true }).fill(owner.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(/\/p\//);
  await page.close();
}

/** Waits until a page has no open requests and shows no loading state. */
export async function settled(page: Page): Promise<void> {
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
  await page.evaluate('document.fonts.ready.then(() => true)');
  await page.waitForTimeout(1500);
}

/** Waits until frames and charts have adapted to a new size of the window. */
export const nextPaint = (page: Page): Promise<void> => page.waitForTimeout(500);
