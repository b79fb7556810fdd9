import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { newId, pool } from '@postroom/platform';
import { testApi } from '@postroom/testkit';
import { parseTemplate, renderTemplate } from '@postroom/templating';
import { expect, test } from 'vitest';
import { storeLinks, trackHtml } from '../src/index.ts';

const fresh = randomBytes(32).toString('base64');
const old = process.env.POSTROOM_SECRET_KEY ?? '';

/** Starts a process that serves pixels and links with these keys, on the same database. `stop` resolves once its hits are stored. */
async function startGateway(keys: Record<string, string>): Promise<{ url: string; stop: () => Promise<void> }> {
  const child = fork(join(import.meta.dirname, 'tracking.program.ts'), {
    env: { ...process.env, POSTROOM_SECRET_KEY_PREVIOUS: undefined, ...keys },
  });
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (message) => resolve(message as number));
    child.once('exit', () => reject(new Error('the process exited before it listened')));
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return { url: `http://127.0.0.1:${port}`, stop: () => (child.disconnect(), ended) };
}

/** Inserts a mail sent a minute ago. Returns the paths of its pixel, a plain link and a link with a sealed value. */
async function sentMail() {
  const { projectId } = await testApi();
  const [campaignId, id] = [newId('cmp'), newId('eml')];
  await pool.query(
    `INSERT INTO campaigns (id, project_id, name, subject, status, recipient_count, accepted_count, updated_at)
     VALUES ($1, $2, 'News', 'News', 'completed', 1, 1, now())`,
    [campaignId, projectId],
  );
  await pool.query(
    `INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state, claimed_at, accepted_at)
     VALUES ($1, $2, $3, $4, 'ada@mail.test', 'accepted', now() - interval '1 minute', now() - interval '1 minute')`,
    [id, projectId, campaignId, newId('ctc')],
  );
  const html =
    '<body><a href="https://a.example/">A</a><a href="https://b.example/{{sku}}">B</a><a href="https://c.example/">C</a></body>';
  const { links, html: tracked, valuesFor } = trackHtml(parseTemplate(html, 'html'), { opens: true, clicks: true }, '');
  await storeLinks([{ id: campaignId, links }]);
  const rendered = renderTemplate(tracked, valuesFor(id, { sku: 'hat 7' }));
  const [plain = '', sealed = ''] = [...rendered.matchAll(/href="([^"]+)"/g)].map(([, path]) => path);
  return { id, plain, sealed, pixel: /src="([^"]+)"/.exec(rendered)?.[1] ?? '' };
}

const follow = async (url: string) => {
  const { status, headers } = await fetch(url, { redirect: 'manual', headers: { 'User-Agent': 'Mozilla/5.0 (X11)' } });
  return { status, leadsTo: headers.get('location') };
};

/** The numbers of the clicked links of a message; null for its pixel. */
async function hits(id: string): Promise<(number | null)[]> {
  const { rows } = await pool.query<{ position: number | null }>(
    'SELECT position FROM tracking_hits WHERE message_id = $1 ORDER BY position NULLS FIRST',
    [id],
  );
  return rows.map(({ position }) => position);
}

test('after key rotation, pixels and links of sent mail work as long as the previous key is set', async () => {
  const { id, plain, sealed, pixel } = await sentMail();
  const gateway = await startGateway({ POSTROOM_SECRET_KEY: fresh, POSTROOM_SECRET_KEY_PREVIOUS: old });
  expect(await follow(gateway.url + plain)).toEqual({ status: 302, leadsTo: 'https://a.example/' });
  expect(await follow(gateway.url + sealed)).toEqual({ status: 302, leadsTo: 'https://b.example/hat%207' });
  expect((await follow(gateway.url + pixel)).status).toBe(200);
  await gateway.stop();
  expect(await hits(id)).toEqual([null, 0, 1]);
});

test('without the previous key they redirect nowhere and record no hits', async () => {
  const { id, plain, sealed, pixel } = await sentMail();
  const gateway = await startGateway({ POSTROOM_SECRET_KEY: fresh });
  expect(await follow(gateway.url + pixel)).toEqual({ status: 200, leadsTo: null });
  expect(await follow(gateway.url + plain)).toEqual({ status: 404, leadsTo: null });
  expect(await follow(gateway.url + sealed)).toEqual({ status: 404, leadsTo: null });
  await gateway.stop();
  expect(await hits(id)).toEqual([]);
});
