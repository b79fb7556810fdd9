import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startTokenServer, trustedMailboxServer } from '@postroom/transports/testing';
import { PRESETS } from '@postroom/transports';
import { db } from '@postroom/platform';
import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { inBrowser, accessibilityViolations, type Window, windowOf } from './browser.ts';

const server = await trustedMailboxServer();

inBrowser('mailbox accounts', () => {
  test('one is connected with a password, shows a connection error, is corrected and disconnected', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    server.passwords.set('ada@mailbox.test', 'right');
    await window.open('/mailboxes');
    await page.getByRole('button', { name: 'Connect mailbox' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Other').check();
    await dialog.getByLabel('Address').fill('ada@mailbox.test');
    await dialog.getByLabel('Mail server').fill('not a host');
    await dialog.getByLabel('Port').fill(String(server.port));
    await dialog.getByLabel('Password', { exact: true }).fill('wrong');
    await dialog.getByLabel('Daily limit').fill('50');
    await dialog.getByRole('button', { name: 'Connect' }).click();
    await dialog.getByText('Must be a hostname, such as smtp.example.com').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByLabel('Mail server').fill(server.host);
    await dialog.getByRole('button', { name: 'Connect' }).click();
    await dialog.getByRole('alert').getByText(/535/).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    // What was typed is still there, and correcting it by keyboard connects the mailbox.
    expect(await dialog.getByLabel('Other').isChecked()).toBe(true);
    expect(await dialog.getByLabel('Address').inputValue()).toBe('ada@mailbox.test');
    expect(await dialog.getByLabel('Port').inputValue()).toBe(String(server.port));
    expect(await dialog.getByLabel('Daily limit').inputValue()).toBe('50');
    expect(await dialog.getByLabel('Password', { exact: true }).inputValue()).toBe('wrong');
    await dialog.getByLabel('Password', { exact: true }).fill('right');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    const row = page.getByRole('row').filter({ hasText: 'ada@mailbox.test' });
    await row.getByText('Connected').waitFor();
    await row.getByRole('cell', { name: '0 of 50', exact: true }).waitFor();
    expect(await db.mailboxAccount.count({ where: { projectId: api.projectId } })).toBe(1);

    await row.getByRole('button', { name: 'Actions for ada@mailbox.test' }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await dialog.getByLabel('New password').fill('wrong again');
    await dialog.getByLabel('Daily limit').fill('60');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByText(/535/).waitFor();
    expect(await dialog.getByLabel('New password').inputValue()).toBe('wrong again');
    await dialog.getByLabel('New password').fill('right');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await row.getByText('Connected').waitFor();
    await row.getByRole('cell', { name: '0 of 60', exact: true }).waitFor();

    server.passwords.set('ada@mailbox.test', 'changed elsewhere');
    await row.getByRole('button', { name: 'Actions for ada@mailbox.test' }).click();
    await page.getByRole('menuitem', { name: 'Test' }).click();
    await row.getByText('Needs attention').waitFor();

    await row.getByRole('button', { name: 'Actions for ada@mailbox.test' }).click();
    await page.getByRole('menuitem', { name: 'Disconnect' }).click();
    await dialog.getByRole('textbox').fill('ada@mailbox.test');
    await dialog.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByText('No mailboxes yet').waitFor();
    expect(await db.mailboxAccount.count({ where: { projectId: api.projectId } })).toBe(0);
  });

  test('a Gmail mailbox is authorized at Google with the registered client', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/mailboxes');
    await page.getByRole('button', { name: 'Connect mailbox' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('OAuth2').check();
    await dialog.getByLabel('Address').fill('ada@example.com');
    await dialog.getByLabel('Client ID').fill('client-1');
    await dialog.getByLabel('Client secret').fill('secret-1');
    const redirect = `${new URL(page.url()).origin}/providers/mailbox/callback`;
    await dialog.getByText(redirect).waitFor();
    await dialog.getByRole('button', { name: 'Connect' }).click();
    const link = new URL((await dialog.getByRole('link', { name: 'Continue' }).getAttribute('href')) ?? '');
    expect(link.host).toBe('accounts.google.com');
    expect(Object.fromEntries(link.searchParams)).toMatchObject({
      client_id: 'client-1',
      redirect_uri: redirect,
      login_hint: 'ada@example.com',
    });
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
    const row = page.getByRole('row').filter({ hasText: 'ada@example.com' });
    await row.getByText('Authorization required').waitFor();
    await row.getByRole('button', { name: 'Actions for ada@example.com' }).click();
    await page.getByRole('menuitem', { name: 'Authorize' }).click();
    const again = (await dialog.getByRole('link', { name: 'Continue' }).getAttribute('href')) ?? '';
    expect(new URL(again).searchParams.get('state')).not.toBe(link.searchParams.get('state'));
  });

  test('authorizing at the provider connects the account', async () => {
    await using google = await standInForGoogle();
    const api = await testApi();
    await using window = await windowOf(api, 'owner', { others: [google.origin] });
    const { page } = window;
    const row = await askForConsent(window, 'grace@mailbox.test');
    const consent = await goToProvider(window);
    await consent.getByRole('link', { name: 'Allow' }).click();
    await consent.getByRole('heading', { name: 'Connected' }).waitFor();
    await consent.getByText('grace@mailbox.test').waitFor();
    await consent.close();
    await page.bringToFront();
    await page.reload();
    await row.getByText('Connected').waitFor();
  });

  test('declining at the provider shows an error and allows a retry', async () => {
    await using google = await standInForGoogle();
    const api = await testApi();
    await using window = await windowOf(api, 'owner', { others: [google.origin] });
    const { page } = window;
    const row = await askForConsent(window, 'alan@mailbox.test');
    const refused = await goToProvider(window);
    await refused.getByRole('link', { name: 'Deny' }).click();
    await refused.getByRole('heading', { name: 'Connection failed' }).waitFor();
    await refused.getByText('The mailbox provider did not grant access (access_denied).').waitFor();
    expect(await accessibilityViolations(refused)).toEqual([]);
    await refused.goBack();
    await refused.getByRole('link', { name: 'Allow' }).click();
    await refused.getByRole('heading', { name: 'Connection failed' }).waitFor();
    await refused.close();
    await page.reload();
    await row.getByText('Authorization required').waitFor();

    await row.getByRole('button', { name: 'Actions for alan@mailbox.test' }).click();
    await page.getByRole('menuitem', { name: 'Authorize' }).click();
    const again = await goToProvider(window);
    await again.getByRole('link', { name: 'Allow' }).click();
    await again.getByRole('heading', { name: 'Connected' }).waitFor();
    await again.close();
    await page.reload();
    await row.getByText('Connected').waitFor();
  });

  test('the form keeps its contents while access is asked for, and follows what the provider grants', async () => {
    await using google = await standInForGoogle();
    const api = await testApi();
    await using window = await windowOf(api, 'owner', { others: [google.origin] });
    const { page } = window;
    await askForConsent(window, 'mary@mailbox.test');
    const refused = await goToProvider(window);
    await refused.getByRole('link', { name: 'Deny' }).click();
    await refused.getByRole('heading', { name: 'Connection failed' }).waitFor();
    await refused.close();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Back' }).focus();
    await page.keyboard.press('Enter');
    expect(await dialog.getByRole('radio', { name: 'OAuth2' }).isChecked()).toBe(true);
    expect(await dialog.getByLabel('Address').inputValue()).toBe('mary@mailbox.test');
    expect(await dialog.getByLabel('Client ID').inputValue()).toBe('client');
    expect(await dialog.getByLabel('Client secret').inputValue()).toBe('client secret');
    await dialog.getByLabel('Address').fill('maria@mailbox.test');
    await dialog.getByRole('button', { name: 'Connect' }).click();
    const again = await goToProvider(window);
    await again.getByRole('link', { name: 'Allow' }).click();
    await again.getByRole('heading', { name: 'Connected' }).waitFor();
    await again.close();
    // Nothing is clicked or reloaded: the dialog follows.
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('row').filter({ hasText: 'maria@mailbox.test' }).getByText('Connected').waitFor();
    const accounts = await db.mailboxAccount.findMany({ where: { projectId: api.projectId } });
    expect(accounts.map(({ email }) => email)).toEqual(['maria@mailbox.test']);
  });

  test('a member sees them without forbidden actions', async () => {
    const api = await testApi();
    await using window = await windowOf(api, 'member');
    await window.open('/mailboxes');
    await window.page.getByText('No mailboxes yet').waitFor();
    expect(await window.page.getByRole('button', { name: 'Connect mailbox' }).count()).toBe(0);
    await window.open('/sending');
    await window.page.getByText('You can’t open this page').waitFor();
  });
});

/** A consent page and token endpoint in place of Google's, used by the Gmail preset. */
async function standInForGoogle(): Promise<{ origin: string } & AsyncDisposable> {
  const tokens = await startTokenServer();
  const before = structuredClone(PRESETS.gmail);
  const pages = createServer((request, response) => {
    const asked = new URL(request.url ?? '/', 'http://localhost');
    const { code, state } = tokens.consent(asked.href);
    const email = asked.searchParams.get('login_hint') ?? '';
    tokens.onToken = (token) => void server.tokens.set(token, email);
    const back = (answer: Record<string, string>) =>
      `${asked.searchParams.get('redirect_uri')}?${new URLSearchParams({ state, ...answer }).toString()}`.replaceAll(
        '&',
        '&amp;',
      );
    response.setHeader('Content-Type', 'text/html').end(`<!doctype html><link rel="icon" href="data:,">
      <a href="${back({ code })}">Allow</a> <a href="${back({ error: 'access_denied' })}">Deny</a>`);
  });
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  const { oauth } = before;
  Object.assign(PRESETS.gmail, {
    host: server.host,
    port: server.port,
    implicitTls: false,
    oauth: oauth && { ...oauth, authorizeUrl: `${origin}/consent`, tokenUrl: tokens.url },
  });
  return {
    origin,
    [Symbol.asyncDispose]: async () => {
      Object.assign(PRESETS.gmail, before);
      pages.closeAllConnections();
      pages.close();
      await tokens.close();
    },
  };
}

/** Connects a Gmail account up to the consent page; returns its row. */
async function askForConsent({ page, open }: Window, email: string): Promise<Locator> {
  await open('/mailboxes');
  await page.getByRole('button', { name: 'Connect mailbox' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('OAuth2').check();
  await dialog.getByLabel('Address').fill(email);
  await dialog.getByLabel('Client ID').fill('client');
  await dialog.getByLabel('Client secret').fill('client secret');
  await dialog.getByRole('button', { name: 'Connect' }).click();
  return page.getByRole('row').filter({ hasText: email });
}

/** Follows the dialog's link to the provider's page, which opens in another tab. */
async function goToProvider({ page, context }: Window): Promise<Page> {
  const opened = context.waitForEvent('page');
  await page.getByRole('dialog').getByRole('link', { name: 'Continue' }).click();
  return opened;
}

inBrowser('sending', () => {
  test('a relay is added, tested, edited without retyping its password, and removed', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    server.passwords.set('postroom', 'relay secret');
    await window.open('/sending');
    await page.getByText('No providers').waitFor();
    await page.getByRole('button', { name: 'Add provider' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.getByText('Is required').waitFor();
    await dialog.getByLabel('Name', { exact: true }).fill('Relay');
    await dialog.getByLabel('Mail server').fill(server.host);
    await dialog.getByLabel('Port').fill(String(server.port));
    await dialog.getByLabel('Username').fill('postroom');
    await dialog.getByLabel('Password', { exact: true }).fill('relay secret');
    await dialog.getByLabel('Connections').fill('3');
    await dialog.getByLabel('Messages per connection').fill('40');
    await dialog.getByLabel('Messages per second').fill('9');
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    const row = page.getByRole('row').filter({ hasText: 'Relay' });
    await row.getByText('Not tested yet').waitFor();
    await row.getByRole('cell', { name: 'All other domains' }).waitFor();
    const act = async (name: string) => {
      await row.getByRole('button', { name: 'Actions for Relay' }).click();
      await page.getByRole('menuitem', { name }).click();
    };
    await act('Test connection');
    await row.getByText('Working').waitFor();

    await act('Edit');
    expect(await dialog.getByLabel('Password', { exact: true }).inputValue()).toBe('');
    expect(await dialog.getByLabel('Username').inputValue()).toBe('postroom');
    expect(await dialog.getByLabel('Messages per connection').inputValue()).toBe('40');
    await dialog.getByLabel('Messages per second').fill('');
    await dialog.getByLabel('Position').fill('3');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row.getByRole('cell', { name: '3', exact: true }).waitFor();
    const { settings } = await db.mailProvider.findFirstOrThrow({ where: { projectId: api.projectId } });
    expect(settings).toMatchObject({ connections: 3, messagesPerConnection: 40 });
    expect(settings).not.toHaveProperty('ratePerSecond');
    await act('Test connection');
    await row.getByText('Working').waitFor();

    server.passwords.set('postroom', 'another secret');
    await act('Test connection');
    await row.getByText('Failing').waitFor();
    await row.getByText(/535/).waitFor();

    await act('Remove');
    await dialog.getByRole('textbox').fill('Relay');
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No providers').waitFor();
  });

  test('Amazon SES is set up for one domain and shows its event URL', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page, person } = window;
    await person.graphql('mutation { addDomain(input: { domain: "news.acme.example" }) { id } }');
    await window.open('/sending');
    await page.getByRole('button', { name: 'Add provider' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Amazon SES').check();
    await dialog.getByLabel('Name', { exact: true }).fill('SES');
    await dialog.getByLabel('Region').fill('nowhere');
    await dialog.getByLabel('Access key ID').fill('AKIA0');
    await dialog.getByLabel('Secret access key').fill('s3cret');
    await dialog.getByRole('combobox', { name: 'Sends email for' }).click();
    await page.getByRole('option', { name: 'news.acme.example' }).click();
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.getByText('Must be a region of AWS, such as eu-west-1').waitFor();
    await dialog.getByLabel('Region').fill('eu-west-1');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    const row = page.getByRole('row').filter({ hasText: 'SES' });
    await row.getByRole('cell', { name: 'news.acme.example' }).waitFor();
    await row.getByText(/\/providers\/ses\//).waitFor();
    expect(await page.content()).not.toContain('s3cret');
  });

  test('campaign limits are set and removed; out-of-range values show an error next to the field', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/sending');
    await page.getByLabel('Maximum messages per second').fill('25');
    await page.getByLabel('Pause at complaint rate').fill('0.001');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Must be between 0.01 and 100, or null').waitFor();
    await page.getByLabel('Pause at complaint rate').fill('0.2');
    await page.getByLabel('Pause after consecutive rejections').fill('');
    await page.getByLabel('Frequency cap', { exact: true }).fill('3');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Limits saved.').waitFor();
    const policy = await db.sendingPolicy.findUniqueOrThrow({ where: { projectId: api.projectId } });
    expect(policy).toMatchObject({ ratePerSecond: 25, complaintLimitPercent: 0.2, refusalsInRow: null });
    expect(policy).toMatchObject({ frequencyCapMessages: 3, frequencyCapDays: 7 });
    await page.reload();
    expect(await page.getByLabel('Maximum messages per second').inputValue()).toBe('25');
  });
});
