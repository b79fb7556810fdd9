import { type SingleSignOn, startSingleSignOn, type System } from '@postroom/testkit';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inBrowser, openWindow, accessibilityViolations, soon } from './browser.ts';

const OWNER = 'owner@people.example';

/** The provider's accounts, by username. */
const CLAIMS: Record<string, object> = {
  owner: { email: OWNER, email_verified: true, name: 'Olive Owner' },
  stranger: { email: 'stranger@people.example', email_verified: true, name: 'S' },
};

/** The provider's pages request a font from there, which is optional. */
const FONTS = 'https://fonts.googleapis.com';

inBrowser('signing in with a provider', () => {
  let signOn: SingleSignOn | undefined;
  let system: System;
  let issuer: string;

  beforeAll(async () => {
    signOn = await startSingleSignOn(OWNER, CLAIMS);
    ({ system, issuer } = signOn);
  }, 180_000);
  afterAll(() => signOn?.stop());

  const open = async () => {
    const others = [issuer, FONTS];
    const window = await openWindow({ url: system.url, projectId: '' }, undefined, { origin: system.url, others });
    await window.context.route(`${FONTS}/**`, (route) => route.abort());
    return window;
  };

  test('single sign-on returns to the requested page', async () => {
    await using window = await open();
    const { page } = window;
    const { rows } = await system.pool.query<{ id: string }>('SELECT id FROM projects');
    const wanted = `/p/${rows[0]?.id}/keys`;
    await offered(page, wanted);
    expect(await accessibilityViolations(page)).toEqual([]);
    await buttonOf(page).click();
    await signInAtProvider(page, issuer, 'owner');
    await page.waitForURL(`${system.url}${wanted}`);
    await page.getByRole('heading', { name: 'API keys', exact: true }).waitFor();
  });

  test('a user without an account is told so and can sign in with a password', async () => {
    await using window = await open();
    const { page } = window;
    await offered(page, '/sign-in');
    await buttonOf(page).click();
    await signInAtProvider(page, issuer, 'stranger');
    await page.waitForURL(`${system.url}/sign-in?**`);
    await page.getByRole('alert').getByText('No account uses your email address').waitFor();
    expect(await page.getByLabel('Password', { exact: true }).isVisible()).toBe(true);
  });

  test('canceling at the provider shows that access was denied', async () => {
    await using window = await open();
    const { page } = window;
    await offered(page, '/sign-in');
    await buttonOf(page).click();
    await page.waitForURL(`${issuer}/**`);
    await page.getByRole('link', { name: /Cancel/ }).click();
    await page.waitForURL(`${system.url}/sign-in?**`);
    await page.getByRole('alert').getByText('The provider denied access.').waitFor();
  });
});

const buttonOf = (page: Page) => page.getByRole('button', { name: 'Sign in with Acme' });

/** Reloads a page until it offers the provider: the gateway retries a provider that was down at its start. */
async function offered(page: Page, path: string): Promise<void> {
  const look = async () => {
    await page.goto(path, { waitUntil: 'networkidle' });
    return buttonOf(page).count();
  };
  await soon(look).toBe(1);
}

/** Signs in and consents on the provider's pages. */
async function signInAtProvider(page: Page, issuer: string, login: string): Promise<void> {
  await page.waitForURL(`${issuer}/**`);
  await page.locator('input[name=login]').fill(login);
  await page.locator('input[name=password]').fill('any');
  await page.getByRole('button', { name: /Sign-in/i }).click();
  await page.getByRole('button', { name: /Continue/i }).click();
}
