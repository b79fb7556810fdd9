import { newId } from '@postroom/platform';
import { eventually, startSmtpSink, startSystem } from '@postroom/testkit';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';

const REQUESTS_PER_SECOND = 30;

test('two gateways together allow a key as many requests as its limit, and few of many requests reach one at once', async () => {
  const system = await startSystem({ env: { RATE_LIMIT_PER_SECOND: String(REQUESTS_PER_SECOND) } });
  onTestFinished(() => system.stop());
  const urls = [system.url, (await system.startAnother('gateway')).url];
  const { key } = await system.api();
  const request = async (url: string) =>
    (await fetch(`${url}/v1/groups`, { headers: { Authorization: `Bearer ${key}` } })).status;
  // A third of the rate, over both: none of it is refused.
  for (let round = 0; round < 5; round++) {
    expect(await Promise.all(urls.map(request))).toEqual([200, 200]);
    await sleep(200);
  }
  await sleep(1_500);
  const began = performance.now();
  let requests = 0;
  const allowed = await Promise.all(
    urls.map(async (url) => {
      let count = 0;
      while (performance.now() - began < 4_000) {
        const statuses = await Promise.all(Array.from({ length: 10 }, () => request(url)));
        count += statuses.filter((status) => status === 200).length;
        requests += statuses.length;
        await sleep(50);
      }
      return count;
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  const total = allowed.reduce((sum, count) => sum + count, 0);
  // A full bucket at the beginning, and the requests that each process lets through before it asks.
  expect(total).toBeLessThanOrEqual(REQUESTS_PER_SECOND * (seconds + 1) + 2 * 2);
  // A busy machine may not make as many requests as are allowed.
  expect(total).toBeGreaterThan(Math.min(requests, REQUESTS_PER_SECOND * seconds) * 0.7);
  expect(Math.min(...allowed)).toBeGreaterThan(0);
}, 120_000);

const MAILS_PER_SECOND = 40;

test('two workers send through a provider at its rate, and after kill -9 of one the other gets all of it within seconds', async () => {
  const sink = await startSmtpSink();
  // A project gets half of a worker's slots, so its two campaigns run in different workers.
  const system = await startSystem({ smtpUrl: sink.url, env: { WORKER_CAMPAIGN_SLOTS: '2' } });
  onTestFinished(async () => {
    await system.stop();
    await sink.close();
  });
  await system.startWorker();
  const other = await system.startAnother('worker');
  const api = await system.api();
  const { port } = new URL(sink.url);
  await system.pool.query(
    `INSERT INTO mail_providers (id, project_id, position, name, kind, settings, token, updated_at)
     VALUES ($1, $2, 1, 'Relay', 'smtp', $3, $1, now())`,
    [
      newId('prv'),
      api.projectId,
      { host: '127.0.0.1', port: Number(port), tls: 'optional', connections: 4, ratePerSecond: MAILS_PER_SECOND },
    ],
  );
  for (const name of ['first', 'second']) {
    const group = newId('grp');
    await system.pool.query(
      `WITH contact AS (
         INSERT INTO contacts (id, project_id, email, email_key, name, source, updated_at)
         SELECT postroom_id('ctc'), $1, $3 || i || '@mail.test', $3 || i || '@mail.test', 'Reader', 'api', now()
         FROM generate_series(1, 2000) i RETURNING id
       ), made AS (INSERT INTO groups (id, project_id, name, updated_at) VALUES ($2, $1, $3, now()))
       INSERT INTO group_members (group_id, contact_id) SELECT $2, id FROM contact`,
      [api.projectId, group, name],
    );
    const campaign = {
      name,
      subject: 'News',
      from_email: 'news@example.com',
      html: '<p>Hello</p>',
      group_ids: [group],
    };
    const { data } = (await api.post('/v1/campaigns', campaign)).body;
    expect((await api.post(`/v1/campaigns/${data.id}/send`)).status).toBe(202);
  }
  const sent = (prefix: string) => sink.mails.filter(({ to }) => to.startsWith(prefix)).length;
  await eventually(() => expect(Math.min(sent('first'), sent('second'))).toBeGreaterThan(5), 60_000);

  const within = async (seconds: number) => {
    const before = sink.mails.length;
    const began = performance.now();
    await sleep(seconds * 1000);
    return (sink.mails.length - before) / ((performance.now() - began) / 1000);
  };
  const ofBoth = await within(6);
  expect(ofBoth).toBeLessThanOrEqual(MAILS_PER_SECOND * 1.15);
  expect(ofBoth).toBeGreaterThan(MAILS_PER_SECOND * 0.6);
  await other.kill();
  await sleep(1_500);
  // A busy machine needs longer to use all of it; more than it never leaves.
  let ofOne = 0;
  for (let round = 0; round < 5 && ofOne <= MAILS_PER_SECOND * 0.6; round++) {
    ofOne = await within(4);
    expect(ofOne).toBeLessThanOrEqual(MAILS_PER_SECOND * 1.15);
  }
  expect(ofOne).toBeGreaterThan(MAILS_PER_SECOND * 0.6);
}, 180_000);
