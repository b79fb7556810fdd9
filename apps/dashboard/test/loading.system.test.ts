import { get, type IncomingMessage } from 'node:http';
import { availableParallelism, loadavg } from 'node:os';
import { pool, record } from '@postroom/platform';
import { signedIn, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { inBrowser, openWindow, soon } from './browser.ts';

/** The most that a page loads, with everything that it shows: in bytes, and in requests. */
const FIRST_LOAD_LIMIT = { bytes: 200_000, requests: 20 };

/** Chrome's conditions of a mobile network: 1.6 Mbit/s down, 750 kbit/s up, 150 ms per round trip. */
const SLOW = { offline: false, latency: 150, downloadThroughput: 1_600_000 / 8, uploadThroughput: 750_000 / 8 };
/** The longest time until the largest element of a page is painted, in ms, on a machine with a free core. */
const LIMIT_MS = { here: 1500, slow: 4000 };
/** The least of these counts: other programs on the machine only ever slow a page down. */
const TRIES = 3;

/** Reads when the largest element so far was painted, in ms since the navigation began, and what it is. */
const LARGEST = `new Promise((resolve) => {
  new PerformanceObserver((list) => {
    const { startTime, element } = list.getEntries().at(-1);
    resolve({ ms: Math.round(startTime), element: element?.textContent?.slice(0, 60) ?? '' });
  }).observe({ type: 'largest-contentful-paint', buffered: true });
})`;

inBrowser('loading', () => {
  test.each([
    { name: 'the sign-in page', path: () => '/sign-in', isSignedIn: false, text: 'Forgot your password?' },
    { name: 'Home', path: (id: string) => `/p/${id}`, isSignedIn: true, text: 'Over time' },
    {
      name: 'a list of 1,000 contacts',
      path: (id: string) => `/p/${id}/contacts`,
      isSignedIn: true,
      text: '1,000 contacts',
    },
  ])('$name shows its largest element soon, also on a slow network', async ({ name, path, isSignedIn, text }) => {
    const api = await testApi();
    const contacts = Array.from({ length: 1000 }, (_, at) => ({
      email: `reader${at}@example.com`,
      name: `Reader ${at}`,
    }));
    await api.post('/v1/contacts/batch', { contacts });
    const user = isSignedIn ? await signedIn(api, 'owner') : undefined;
    const measure = async (network?: typeof SLOW) => {
      await using window = await openWindow(api, user, { isFresh: true }); // with an empty cache
      const { page, context } = window;
      const session = await context.newCDPSession(page);
      await session.send('Network.enable');
      if (network !== undefined) await session.send('Network.emulateNetworkConditions', network);
      await page.goto(path(api.projectId));
      await page.getByText(text).first().waitFor();
      // Figures arrive after the heading.
      await soon(() => page.locator('[aria-busy=true]').count()).toBe(0);
      await page.waitForTimeout(500);
      return (await page.evaluate(LARGEST)) as { ms: number; element: string };
    };
    const expectWithin = async (limit: number, network?: typeof SLOW) => {
      const taken: { ms: number; element: string; allowed: number }[] = [];
      do {
        // While more programs run than there are cores, each gets its share of one.
        const programs = Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
        taken.push({ ...(await measure(network)), allowed: limit * programs });
      } while (taken.length < TRIES && taken.every(({ ms, allowed }) => ms > allowed));
      const all = taken.map(({ ms, element, allowed }) => `${ms} of ${Math.round(allowed)} ms (“${element}”)`);
      console.info(`${name}${network === undefined ? '' : ', slow network'}: ${all.join(', ')}`);
      expect(taken.some(({ ms, allowed }) => ms <= allowed)).toBe(true);
    };
    await expectWithin(LIMIT_MS.here);
    await expectWithin(LIMIT_MS.slow, SLOW);
  });

  test('Home with its charts, a campaign report and sign-in are small, in few requests', async () => {
    const api = await testApi();
    const many = (type: string, count: number) => Array.from({ length: count }, () => ({ type, data: {} }));
    await record(pool, api.projectId, [...many('email.sent', 300), ...many('email.bounced', 9)]);
    const { id } = (await api.post('/v1/campaigns', { name: 'Autumn newsletter', subject: 'New', html: '<p>Hi</p>' }))
      .body.data;
    await pool.query(
      `UPDATE campaigns SET status = 'completed', started_at = now() - interval '2 hours', frozen_at = now(), completed_at = now(),
         recipient_count = 300, accepted_count = 295, failed_count = 5 WHERE id = $1`,
      [id],
    );
    const owner = await signedIn(api, 'owner');
    for (const { name, path, user, shows } of [
      { name: 'sign-in', path: '/sign-in', user: undefined, shows: 'Forgot your password?' },
      {
        name: 'report',
        path: `/p/${api.projectId}/campaigns/${id}`,
        user: owner,
        shows: 'Resend to 5 failed recipients',
      },
      { name: 'Home', path: `/p/${api.projectId}`, user: owner, shows: 'Autumn newsletter' },
    ]) {
      await using window = await openWindow(api, user, { isFresh: true }); // with an empty cache
      const { page, context } = window;
      const session = await context.newCDPSession(page);
      await session.send('Network.enable');
      const files: string[] = [];
      let bytes = 0;
      session.on('Network.requestWillBeSent', ({ request: { url } }) => files.push(new URL(url).pathname));
      session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
      await page.goto(path);
      await page.getByText(shows).first().waitFor();
      await soon(() => page.locator('[aria-busy=true]').count()).toBe(0);
      if (name === 'Home') await soon(() => page.locator('.chart-line').count()).toBeGreaterThan(3);
      // The stream of live updates stays open, so the network is never idle.
      let before = 0;
      await soon(async () => {
        before = files.length;
        await page.waitForTimeout(700);
        return files.length - before;
      }).toBe(0);
      console.info(`${name}: ${(bytes / 1000).toFixed(1)} kB in ${files.length} requests`);
      expect(bytes, name).toBeGreaterThan(100_000);
      expect(bytes, name).toBeLessThan(FIRST_LOAD_LIMIT.bytes);
      expect(files.length, name).toBeLessThanOrEqual(FIRST_LOAD_LIMIT.requests);
      if (name !== 'Home') continue;

      // Browsers use Brotli over HTTPS and on this machine only.
      const sizes = await Promise.all(
        files
          .filter((file) => file.startsWith('/assets/'))
          .map(async (file) => {
            const { headers } = await fetchEncoded(api.url + file, 'gzip');
            expect(headers['content-encoding'], file).toBe(file.endsWith('.woff2') ? undefined : 'gzip');
            return Number(headers['content-length']);
          }),
      );
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(FIRST_LOAD_LIMIT.bytes);
    }
  });
});

/** A response with its headers as sent; fetch hides the encoding. */
const fetchEncoded = (url: string, encoding: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    get(url, { headers: { 'accept-encoding': encoding } }, (response) => {
      response.resume();
      resolve(response);
    }).once('error', reject);
  });
