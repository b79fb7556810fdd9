import { request } from 'node:http';
import { addLocalDomain } from '@postroom/domains';
import { newId } from '@postroom/platform';
import { signedIn, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';

/** The status under a hostname; `fetch` can't set one. */
const statusUnder = (host: string, url: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    const asked = request(url, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.once('error', reject).end();
  });

test('the tracking host of a domain only serves tracking', async () => {
  const api = await testApi();
  const admin = await signedIn(api, 'admin');
  const name = `${newId('dom').slice(-10)}.example`;
  const { id } = await addLocalDomain(api.projectId, name);
  const host = `links.${name}`;
  const paths = [
    '/',
    '/sign-in',
    '/v1/openapi.json',
    '/graphql?query={me{id}}',
    '/docs',
    '/healthz',
    '/metrics',
    '/u/test',
  ];
  const served = async () => Promise.all(paths.map((path) => statusUnder(host, api.url + path)));
  expect(await served()).not.toContain(404);

  const set = 'mutation ($id: ID!, $host: String) { setTrackingDomain(id: $id, host: $host) { trackingDomain } }';
  await admin.graphql(set, { id, host });
  await expect.poll(() => statusUnder(host, `${api.url}/healthz`), { timeout: 20_000 }).toBe(404);
  expect(new Set(await served())).toEqual(new Set([404]));
  expect(await statusUnder(host, `${api.url}/t/o/any`)).toBe(200);
  expect(await statusUnder('127.0.0.1', `${api.url}/healthz`)).toBe(200);
});
