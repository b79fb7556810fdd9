import { record, db, pool } from '@postroom/platform';
import { type Api, type SignedIn, signedIn, takeSystemMail, testApi } from '@postroom/testkit';
import { beforeAll, expect, test } from 'vitest';
import { expectAccessible, inBrowser, openWindow, SCHEMES, accessibilityViolations, SIZES } from './browser.ts';

inBrowser('every page', () => {
  let api: Api;
  let owner: SignedIn;
  /** Paths with an id in them. */
  let ids: { endpoint: string; delivery: string };

  beforeAll(async () => {
    api = await testApi();
    owner = await signedIn(api, 'owner');
    ids = await seedProject(api, owner);
  });

  test.each([
    ['API keys', () => '/keys'],
    ['Members', () => '/members'],
    ['Project', () => '/settings'],
    ['Sending', () => '/sending'],
    ['Mailbox accounts', () => '/mailboxes'],
    ['Audit log', () => '/audit'],
    ['Your account', () => '/account'],
    ['Webhooks', () => '/webhooks'],
    ['Add endpoint', () => '/webhooks/new'],
    ['Orders', () => `/webhooks/${ids.endpoint}`],
    ['Edit endpoint', () => `/webhooks/${ids.endpoint}/edit`],
    ['contact.created', () => `/webhooks/${ids.endpoint}/deliveries/${ids.delivery}`],
    ['Domains', () => '/domains'],
    ['mail.acme.example', () => '/domains/mail.acme.example'],
    ['Not found', () => '/webhooks/whe_00000000000000000000000000'],
    ['Not found', () => '/no-such-page'],
  ])(
    '%s has a title and one main heading, is accessible in both schemes and sizes, and contacts no other host',
    (title, path) => expectAccessible(api, owner, path(), title),
  );

  test.each(['/sign-in', '/reset-password', '/reset-password?token=x', '/invitation?token=x', '/invitation'])(
    '%s needs no sign-in and is accessible',
    async (path) => {
      for (const colorScheme of SCHEMES) {
        await using window = await openWindow(api, undefined, { colorScheme });
        const { page } = window;
        await page.goto(path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        for (const size of Object.values(SIZES)) {
          await page.setViewportSize(size);
          expect(await accessibilityViolations(page)).toEqual([]);
        }
      }
    },
  );

  test.each(SCHEMES)(
    'dialogs, menus and the command palette are accessible and comply with the content security policy: %s',
    async (colorScheme) => {
      await using window = await openWindow(api, owner, { colorScheme });
      const { page } = window;
      await window.open('/keys');
      await page.getByRole('button', { name: 'Create API key' }).first().click();
      await page.getByRole('dialog').waitFor();
      expect(await accessibilityViolations(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: /Switch project/ }).click();
      await page.getByRole('menuitem', { name: 'New project' }).waitFor();
      expect(await accessibilityViolations(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.keyboard.press('Control+k');
      await page.getByRole('textbox', { name: 'Search, or run a command' }).waitFor();
      expect(await accessibilityViolations(page)).toEqual([]);
      await page.keyboard.press('Escape');
    },
  );
});

/** A project with data on every page. */
async function seedProject(api: Api, owner: SignedIn): Promise<{ endpoint: string; delivery: string }> {
  const url = 'http://127.0.0.1:9/hooks';
  const endpoint = (await api.post('/v1/webhooks', { url, events: ['*'], description: 'Orders' })).body.data;
  await record(pool, api.projectId, [
    { type: 'contact.created', data: { email: 'ada@example.com' } },
    { type: 'email.bounced', data: { email: 'bob@example.com' } },
  ]);
  const [delivery] = await db.delivery.findMany({ where: { endpointId: endpoint.id }, orderBy: { id: 'asc' } });
  if (delivery === undefined) throw new Error('The event made no delivery.');
  await db.attempt.create({
    data: {
      deliveryId: delivery.id,
      projectId: api.projectId,
      number: 1,
      startedAt: new Date(),
      durationMs: 31,
      status: 503,
      response: '{"error":"down for maintenance"}',
      headers: { 'Content-Type': 'application/json', 'X-Webhook-Event': 'contact.created' },
    },
  });
  await db.delivery.update({ where: { id: delivery.id }, data: { state: 'retried', attemptCount: 1 } });
  await using _mail = await takeSystemMail();
  const run = async (query: string) => {
    const { body } = await owner.graphql(query);
    if (body.errors !== undefined) throw new Error(JSON.stringify(body.errors));
  };
  await run('mutation { addDomain(input: { domain: "mail.acme.example" }) { id } }');
  await run('mutation { invite(input: { email: "grace@example.com", role: viewer }) { id } }');
  await run('mutation { createApiKey(input: { name: "Shop", scope: sending }) { id } }');
  await run('mutation { createMailProvider(input: { name: "Relay", smtp: { host: "127.0.0.1", port: 9 } }) { id } }');
  await run(`mutation { createMailProvider(input: { name: "SES", position: 2, domain: "mail.acme.example", ses: {
    region: "eu-west-1", accessKeyId: "AKIA0", secretAccessKey: "s", configurationSet: "postroom" } }) { id } }`);
  await run(`mutation { connectMailbox(input: { email: "ada@example.com", provider: gmail, signIn: oauth2, clientId: "c",
    clientSecret: "s" }) { account { id } } }`);
  await run(`mutation { connectMailbox(input: { email: "support@example.net", provider: other, signIn: password,
    host: "127.0.0.1", port: 9, password: "p" }) { account { id } } }`);
  return { endpoint: endpoint.id, delivery: delivery.id };
}
