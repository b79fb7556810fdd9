import { addUnwatchedDomain, startCloudflare } from '@postroom/domains/testing';
import { config, db } from '@postroom/platform';
import { testApi } from '@postroom/testkit';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { accessibilityViolations, expectAccessible, inBrowser, soon, windowOf } from './browser.ts';

inBrowser('domains', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test('a domain is added, its records can be copied, and it is removed', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page, context } = window;
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: config.PUBLIC_URL });
    await window.open('/domains');
    await page.getByRole('button', { name: 'Add domain' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Domain', { exact: true }).fill('-not.a.domain-');
    await dialog.getByRole('button', { name: 'Add domain' }).click();
    await soon(() => dialog.getByLabel('Domain', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    await dialog.getByLabel('Domain', { exact: true }).fill('news.acme.example');
    await dialog.getByRole('button', { name: 'Add domain' }).click();
    await page.getByRole('heading', { name: 'news.acme.example', level: 1 }).waitFor();

    const { records } = await db.domain.findFirstOrThrow({ where: { projectId: api.projectId } });
    const [dkim] = records as { name: string; value: string }[];
    const row = page
      .getByRole('table', { name: 'DNS records' })
      .getByRole('row')
      .filter({ hasText: dkim?.name ?? '' });
    await row.getByRole('button', { name: 'Copy: Value' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(dkim?.value);
    await page.getByText('news.acme.example was added.').waitFor();

    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('news.acme.example');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No domains yet').waitFor();
  });

  test('DNS check results appear live, with the current values', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page } = window;
    const { id } = await addUnwatchedDomain(api.projectId, 'live.acme.example');
    await window.open('/domains/live.acme.example');
    await page.getByText('Live', { exact: true }).waitFor();
    const { records } = await db.domain.findUniqueOrThrow({ where: { id } });
    const [dkim, ...rest] = records as { status: string }[];
    const seen = { ...dkim, status: 'failing', found: ['v=DKIM1; p=old'], note: 'Another key stands there.' };
    await db.domain.update({
      where: { id },
      data: { dkim: 'failing', records: [seen, ...rest], zone: 'acme.example', dnsProvider: 'cloudflare' },
    });
    await db.$executeRaw`SELECT pg_notify('postroom', ${`domain ${id}`})`;
    await page.getByText('Another key stands there.').waitFor();
    await page.getByText('v=DKIM1; p=old').waitFor();
    await page.getByRole('link', { name: 'Open Cloudflare' }).waitFor();
  });

  test('records are published after a preview; a rejected token changes nothing', async () => {
    const api = await testApi();
    const nameservers = ['lara.ns.cloudflare.com', 'rick.ns.cloudflare.com'];
    const provider = await startCloudflare({ name: 'publish.example', nameservers });
    onTestFinished(() => provider.close());
    // The Cloudflare client reads its base URL from here.
    vi.stubEnv('CLOUDFLARE_BASE_URL', provider.url);
    await using window = await windowOf(api);
    const { page } = window;
    const { id, domain } = await addUnwatchedDomain(api.projectId, 'mail.publish.example');
    const zone = { zone: 'publish.example', nameservers, dnsProvider: 'cloudflare' };
    const { records } = await db.domain.update({ where: { id }, data: zone });
    await window.open(`/domains/${domain}`);
    await page.getByRole('button', { name: 'Publish records' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('API token').fill('not the token');
    await dialog.getByRole('button', { name: 'Preview changes' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('API token').fill(provider.token);
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Preview changes' }).click();
    await dialog.getByText('Nothing has been changed yet.').waitFor();
    const names = (records as { name: string }[]).map(({ name }) => name);
    await soon(() => dialog.getByText('Will be added').count()).toBe(names.length);
    expect(provider.records).toEqual([]);
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
    await soon(() => dialog.getByText('Added', { exact: true }).count()).toBe(names.length);
    expect(provider.records.map(({ name }) => name).sort()).toEqual(names.toSorted());
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByText(/records were published at Cloudflare/).waitFor();
    expect(JSON.stringify(await db.domain.findUniqueOrThrow({ where: { id } }))).not.toContain(provider.token);
  });

  test('a viewer sees a domain but no actions', async () => {
    const api = await testApi();
    await using owner = await windowOf(api);
    await owner.person.graphql('mutation { addDomain(input: { domain: "view.acme.example" }) { id } }');
    await using viewer = await windowOf(api, 'viewer');
    await viewer.open('/domains/view.acme.example');
    await viewer.page.getByText('DNS records').waitFor();
    for (const name of ['Check now', 'More actions', 'Publish records'])
      expect(await viewer.page.getByRole('button', { name }).count(), name).toBe(0);
  });

  test('every DNS record is a row of one table, whose host is copied relative to the zone and in full', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page, context, person } = window;
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: config.PUBLIC_URL });
    const { id } = await addUnwatchedDomain(api.projectId, 'table.acme.example');
    await person.graphql(
      'mutation ($id: ID!) { setTrackingDomain(id: $id, host: "links.table.acme.example") { id } }',
      {
        id,
      },
    );
    const { records } = await db.domain.findUniqueOrThrow({ where: { id } });
    const names = (records as { name: string }[]).map(({ name }) => name).concat('links.table.acme.example');
    await window.open('/domains/table.acme.example');
    const table = page.getByRole('table', { name: 'DNS records' });
    await soon(() => table.locator('tbody tr').count()).toBe(names.length);
    expect(await table.getByText('the zone was not found yet').count()).toBe(names.length);
    await db.domain.update({ where: { id }, data: { zone: 'table.acme.example' } });
    await page.reload();
    const copied = () => page.evaluate('navigator.clipboard.readText()');
    const links = table.getByRole('row').filter({ hasText: 'links.table.acme.example' });
    await links.getByRole('button', { name: 'Copy: Host in the zone' }).click();
    await soon(copied).toBe('links');
    await links.getByRole('button', { name: 'Copy: Full name' }).focus();
    await page.keyboard.press('Enter');
    await soon(copied).toBe('links.table.acme.example');
    const mx = table.getByRole('row').filter({ hasText: 'MX' });
    await mx.getByRole('button', { name: 'Copy: Priority' }).click();
    await soon(copied).toBe('10');
    await expectAccessible(api, person, '/domains/table.acme.example', 'Host in the zone');
  });

  test('a tracking domain is set, verified live and removed', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page, context } = window;
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: config.PUBLIC_URL });
    const { id } = await addUnwatchedDomain(api.projectId, 'track.acme.example');
    await window.open('/domains/track.acme.example');
    const section = page.getByRole('region', { name: 'Tracking domain' });
    await section.getByText('Links use this server’s address.').waitFor();
    await section.getByRole('button', { name: 'Use your own domain' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('links.other.example');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText(/Must be a subdomain of track.acme.example/).waitFor();
    await dialog.getByLabel('Name').fill('links.track.acme.example');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });

    const card = page
      .getByRole('table', { name: 'DNS records' })
      .getByRole('row')
      .filter({ hasText: 'links.track.acme.example' });
    await card.getByText('Pending').waitFor();
    await card.getByRole('button', { name: 'Copy: Value' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(new URL(config.PUBLIC_URL).hostname);
    expect(await accessibilityViolations(page)).toEqual([]);

    await page.getByText('Live', { exact: true }).waitFor();
    await db.domain.update({ where: { id }, data: { tracking: 'verified' } });
    await db.$executeRaw`SELECT pg_notify('postroom', ${`domain ${id}`})`;
    await section.getByText('Links use https://links.track.acme.example.').waitFor();
    await card.getByText('Verified').waitFor();

    await section.getByRole('button', { name: 'Change' }).click();
    await dialog.getByLabel('Name').fill('');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await section.getByText('Links use this server’s address.').waitFor();
    expect((await db.domain.findUniqueOrThrow({ where: { id } })).trackingDomain).toBeNull();
  });

  test('a warm-up plan is set, validated, shown and removed', async () => {
    const api = await testApi();
    await using window = await windowOf(api);
    const { page, person } = window;
    await person.graphql('mutation { addDomain(input: { domain: "warm.acme.example" }) { id } }');
    await window.open('/domains/warm.acme.example');
    const section = page.getByRole('region', { name: 'Warm-up' });
    await section.getByText('Off. Campaigns have no daily limit.').waitFor();
    const dialog = page.getByRole('dialog');
    const change = () => section.getByRole('button', { name: 'Change plan' }).click();
    await change();
    await dialog.getByLabel('Recommended').check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await section.getByText('0 of 50', { exact: true }).waitFor();
    await section.getByText('1 of 14', { exact: true }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);

    await change();
    const steps = dialog.getByLabel('Messages per day, starting with the first day');
    await steps.fill('many');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Enter numbers separated by commas').waitFor();
    await steps.fill('30, 20');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText(/must not be less than the limit of the previous day/).waitFor();
    await steps.fill('30, 200');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await section.getByText('0 of 30', { exact: true }).waitFor();

    await change();
    await dialog.getByLabel('Off').check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await section.getByText('Off. Campaigns have no daily limit.').waitFor();
  });
});
