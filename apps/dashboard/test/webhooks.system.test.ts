import { db, pool, record } from '@postroom/platform';
import { startReceiver, startTestWorker, testApi } from '@postroom/testkit';
import { beforeAll, expect, test } from 'vitest';
import { expectAccessible, inBrowser, windowOf, soon } from './browser.ts';

inBrowser('webhooks', () => {
  beforeAll(startTestWorker);

  test('an endpoint is added, and the delivery of a test event appears live', async () => {
    const api = await testApi();
    const receiver = await startReceiver((_received, response) => void response.writeHead(200).end('thanks'));
    await using window = await windowOf(api);
    const { page } = window;
    await window.open('/webhooks');
    await page.getByRole('link', { name: 'Add endpoint' }).first().click();
    await page.getByLabel('URL').fill('ftp://nowhere');
    await page.getByRole('radio', { name: 'Selected events' }).check();
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    await page.getByText('Enter a URL that starts with https://').waitFor();
    await page.getByText('Choose at least one event').waitFor();
    await page.getByLabel('URL').fill(receiver.url);
    await page.getByLabel('Description').fill('Orders');
    await page.getByRole('checkbox', { name: 'contact.created' }).check();
    await page.getByRole('checkbox', { name: 'email.bounced' }).check();
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    const secret = await page.getByRole('dialog').locator('code').textContent();
    expect(secret).toMatch(/^whsec_/);
    await page.getByRole('button', { name: 'View endpoint' }).click();
    await page.getByRole('heading', { name: 'Orders', level: 1 }).waitFor();
    const endpoint = await db.webhookEndpoint.findFirstOrThrow({ where: { projectId: api.projectId } });
    expect(endpoint.events.toSorted()).toEqual(['contact.created', 'email.bounced']);

    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Send test event' }).click();
    const deliveries = page.getByRole('table', { name: 'Deliveries' });
    await deliveries.getByRole('row').filter({ hasText: 'webhook.test' }).getByText('Acknowledged').waitFor();
    await record(pool, api.projectId, [{ type: 'email.bounced', data: { email: 'ada@example.com' } }]);
    // Nothing is clicked: the subscription delivers it.
    await deliveries.getByRole('row').filter({ hasText: 'email.bounced' }).getByText('Acknowledged').waitFor();

    await deliveries.getByRole('link', { name: 'email.bounced' }).click();
    await page.getByRole('heading', { name: 'email.bounced', level: 1 }).waitFor();
    await page.getByRole('region', { name: 'Payload' }).getByText('"email": "ada@example.com"').waitFor();
    await page.getByRole('region', { name: 'Response body' }).getByText('thanks').waitFor();
    await page.getByRole('region', { name: 'Request headers' }).getByText('X-Webhook-Signature').waitFor();
    expect(await page.getByRole('link', { name: 'Open in Temporal' }).getAttribute('href')).toContain('/workflows/');

    const before = receiver.received.length;
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText('Replay of').waitFor();
    await soon(() => receiver.received.length).toBe(before + 1);
    expect(receiver.received.at(-1)?.raw).toBe(receiver.received.at(-2)?.raw);
    await receiver.close();
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText('The connection was refused.').waitFor();
    await page.getByText('No request was sent.').waitFor();
  });

  test('the secret is revealed and rotated, and the old one also signs for a day', async () => {
    const api = await testApi();
    const { id, secret } = (await api.post('/v1/webhooks', { url: 'https://example.com/hook', events: ['*'] })).body
      .data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/webhooks/${id}`);
    expect(await page.getByText(secret).count()).toBe(0);
    await page.getByRole('button', { name: 'Reveal' }).click();
    await page.getByText(secret).waitFor();
    await page.getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    await page.getByText('Signing secret rotated.').waitFor();
    await page.getByText(secret).waitFor({ state: 'detached' });
    await page.getByText('The previous secret keeps signing X-Webhook-Signature-Previous').waitFor();
    await page.getByRole('button', { name: 'How to verify requests' }).click();
    for (const language of ['Python', 'Go']) {
      await page.getByRole('tab', { name: language }).click();
      await page.getByRole('region', { name: `Verification in ${language}` }).waitFor();
    }
  });

  test('an endpoint is disabled, enabled, edited and deleted', async () => {
    const api = await testApi();
    const url = 'https://example.com/hook';
    const { id } = (await api.post('/v1/webhooks', { url, events: ['*'] })).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/webhooks/${id}`);
    const act = async (name: string) => {
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name }).click();
    };
    await act('Disable');
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await page.getByText('Disabled by hand.').waitFor();
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Enable' }).click();
    await page.getByRole('button', { name: 'Send test event' }).waitFor();

    await act('Edit');
    await page.getByLabel('Description').fill('Renamed');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Renamed' }).waitFor();

    await act('Delete');
    const confirm = page.getByRole('dialog').getByRole('button', { name: 'Delete' });
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByRole('dialog').getByRole('textbox').fill(url);
    await confirm.click();
    await page.getByText('No endpoints yet').waitFor();
  });

  test('a delivery that is being retried is given up by keyboard, and can then be replayed', async () => {
    const api = await testApi();
    let status = 500;
    const receiver = await startReceiver((_received, response) => void response.writeHead(status).end());
    const { id } = (await api.post('/v1/webhooks', { url: receiver.url, events: ['*'] })).body.data;
    await record(pool, api.projectId, [{ type: 'contact.created', data: {} }]);
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/webhooks/${id}`);
    await page.getByRole('link', { name: 'contact.created' }).click();
    await page.getByRole('button', { name: 'Retry now' }).waitFor();
    expect(await page.getByRole('button', { name: 'Replay' }).getAttribute('aria-disabled')).toBe('true');
    const giveUp = page.getByRole('button', { name: 'Give up' });
    // While an attempt is in progress, the answer is to try again in a moment.
    await soon(async () => {
      if ((await giveUp.count()) > 0) await giveUp.press('Enter', { timeout: 1_000 });
      return page.getByText('Failed', { exact: true }).count();
    }).toBeGreaterThan(0);
    await soon(() => page.getByRole('button', { name: 'Retry now' }).count()).toBe(0);
    status = 200;
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText('Acknowledged', { exact: true }).first().waitFor();
  });

  test('the state of an endpoint follows its failure rate live, on its page and in the list, and moves nothing', async () => {
    const api = await testApi();
    let status = 200;
    const receiver = await startReceiver((_received, response) => void response.writeHead(status).end());
    const { id } = (await api.post('/v1/webhooks', { url: receiver.url, events: ['*'] })).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    const happen = (times: number) =>
      record(
        pool,
        api.projectId,
        Array.from({ length: times }, () => ({ type: 'contact.created' as const, data: {} })),
      );
    // From the health on: on phones notifications make the header higher, and long titles wrap.
    const top = () =>
      page.evaluate(`document.querySelector('section[aria-label=Deliveries]').getBoundingClientRect().y
        - document.querySelector('section[aria-label=Health]').getBoundingClientRect().y`);
    await happen(1);
    await window.open(`/webhooks/${id}`);
    const health = page.getByRole('region', { name: 'Health' });
    await health.getByText('100% of 1 attempt acknowledged').waitFor();
    await page.getByText('Healthy', { exact: true }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('table', { name: 'Deliveries' }).waitFor();
    const before = await top();
    status = 500;
    await happen(3);
    // Nothing is clicked.
    await page.getByText('Failing', { exact: true }).waitFor();
    await health.getByText('Started failing').waitFor();
    await health.getByRole('img', { name: 'Attempts by hour: 1 acknowledged, 3 failed' }).waitFor();
    expect(await top()).toBe(before);
    await page.setViewportSize({ width: 390, height: 844 });
    // What follows the width of the window renders a moment later.
    await page.waitForTimeout(500);
    const onPhone = await top();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Disable' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await health.getByText('Disabled by hand.').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await top()).toBe(onPhone);
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Enable' }).click();
    await page.getByText('Failing', { exact: true }).waitFor();
    await page.setViewportSize({ width: 1280, height: 800 });

    // The figures of the bars, by keyboard.
    await health.locator('summary').focus();
    await page.keyboard.press('Enter');
    await health.getByRole('table').getByRole('cell', { name: '1', exact: true }).waitFor();

    await window.open('/webhooks');
    await page.getByText(/^\d+% of \d attempts acknowledged$/).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    const rowHeight = async () => (await page.getByRole('row').last().boundingBox())?.height;
    const height = await rowHeight();
    status = 200;
    await happen(16);
    await page.getByText('Degraded', { exact: true }).waitFor();
    await page.getByText(/^\d+% of 2\d attempts acknowledged$/).waitFor();
    expect(await rowHeight()).toBe(height);
    await expectAccessible(api, window.person, `/webhooks/${id}`, 'Degraded');
    await expectAccessible(api, window.person, '/webhooks', 'Degraded');
    await receiver.close();
  });

  test('events in quick succession refetch a page at most once a second', async () => {
    const api = await testApi();
    const receiver = await startReceiver((_received, response) => void response.writeHead(200).end());
    const { id } = (await api.post('/v1/webhooks', { url: receiver.url, events: ['*'] })).body.data;
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/webhooks/${id}`);
    await page.getByText('Live', { exact: true }).waitFor();
    const fetched: number[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/graphql') && request.postData()?.includes('query Deliveries') === true)
        fetched.push(Date.now());
    });
    for (let event = 0; event < 20; event++) {
      await record(pool, api.projectId, [{ type: 'contact.created', data: {} }]);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await soon(() => page.getByRole('row').filter({ hasText: 'Acknowledged' }).count()).toBe(20);
    expect(fetched.length).toBeGreaterThan(0);
    // On a busy machine the browser reports some late, and those after them seem closer together.
    const seconds = ((fetched.at(-1) ?? 0) - (fetched[0] ?? 0)) / 1_000;
    expect(fetched.length).toBeLessThanOrEqual(Math.ceil(seconds) + 2);
  });

  test('deliveries are filtered by state and type, and failed ones are replayed', async () => {
    const api = await testApi();
    const receiver = await startReceiver();
    const { id } = (await api.post('/v1/webhooks', { url: receiver.url, events: ['*'] })).body.data;
    await record(pool, api.projectId, [
      { type: 'contact.created', data: {} },
      { type: 'contact.deleted', data: {} },
    ]);
    await using window = await windowOf(api);
    const { page } = window;
    await window.open(`/webhooks/${id}`);
    const rows = page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr');
    await soon(() => rows.count()).toBe(2);
    await page.getByRole('combobox', { name: 'Event type' }).click();
    await page.getByRole('option', { name: 'contact.deleted' }).click();
    await soon(() => rows.count()).toBe(1);
    expect(page.url()).toContain('type=contact.deleted');
    await page.reload();
    await soon(() => rows.count()).toBe(1);

    await soon(() => receiver.received.length).toBe(2);
    await db.delivery.updateMany({ where: { endpointId: id }, data: { state: 'failed', closedAt: new Date() } });
    await window.open(`/webhooks/${id}?state=failed`);
    await soon(() => rows.count()).toBe(2);
    await page.getByRole('button', { name: 'Replay failed…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Replay' }).click();
    await page.getByText('2 queued for replay.').waitFor();
    await soon(() => receiver.received.length).toBe(4);
    await receiver.close();
  });
});
