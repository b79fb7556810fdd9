import { findBrowser, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { openPage } from './browser.ts';

test('the reference is served without a key, under a policy that allows nothing external', async () => {
  const { url } = await testApi();
  const page = await fetch(`${url}/docs`);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  const policy = page.headers.get('content-security-policy');
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self'");
  expect(policy).not.toMatch(/unsafe|\*|https?:/);
  const html = await page.text();
  const addresses = [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, address = '']) => address);
  expect(addresses.filter((address) => !/^(\/|data:,)/.test(address))).toEqual([]);
  for (const address of addresses.filter((address) => address.startsWith('/'))) {
    expect([address, (await fetch(url + address)).status]).toEqual([address, 200]);
  }
});

test('its files are cached and compressed', async () => {
  const { url } = await testApi();
  const first = await fetch(`${url}/docs/swagger-ui.js`);
  expect(first.headers.get('content-encoding')).toBe('gzip');
  const again = await fetch(`${url}/docs/swagger-ui.js`, {
    headers: { 'If-None-Match': first.headers.get('etag') ?? '' },
  });
  expect(again.status).toBe(304);
  const plain = await fetch(`${url}/docs/page.css`, { headers: { 'Accept-Encoding': 'identity' } });
  expect([plain.headers.get('content-encoding'), await plain.text()]).toEqual([
    null,
    expect.stringContaining('.page-head'),
  ]);
  expect((await fetch(`${url}/docs`, { method: 'POST' })).status).toBe(405);
  expect((await fetch(`${url}/docs/../package.json`)).status).toBe(404);
});

const browser = findBrowser();

test.skipIf(browser === undefined)(
  'it shows every operation, requests nothing external, and violates no policy (needs Chromium)',
  { timeout: 120_000 },
  async () => {
    const { url } = await testApi();
    const document = (await (await fetch(`${url}/v1/openapi.json`)).json()) as { paths: Record<string, object> };
    const operations = Object.values(document.paths).flatMap((item) => Object.keys(item)).length;
    await using page = await openPage(browser as string, `${url}/docs`);
    await page.until(`document.querySelectorAll('#tags a').length > 0`);
    const shown = await page.evaluate(`(async () => {
      let count = 0;
      for (const link of document.querySelectorAll('#tags a')) {
        link.click();
        await new Promise(requestAnimationFrame);
        count += document.querySelectorAll('.opblock:not([id^="operations-webhooks"])').length;
        document.querySelector('.opblock-tag[data-is-open=true] .expand-operation').click();
        await new Promise(requestAnimationFrame);
      }
      return count;
    })()`);
    expect(shown).toBe(operations);
    await page.evaluate(`document.querySelector('#tags a').click()`);
    await page.until(`document.querySelector('.opblock-summary-control') !== null`);
    await page.evaluate(`document.querySelector('.opblock-summary-control').click()`);
    await page.until(`document.querySelector('.opblock-body .responses-table') !== null`);
    expect(page.problems).toEqual([]);
    expect(page.requests.filter((address) => !address.startsWith(url) && !address.startsWith('data:'))).toEqual([]);
  },
);
