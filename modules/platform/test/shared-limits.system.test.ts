import { newId } from '@postroom/platform';
import { addCampaign, eventually, type SmtpSink, startReceiver, startSmtpSink, startSystem } from '@postroom/testkit';
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

type System = Awaited<ReturnType<typeof startSystem>>;
type SystemApi = Awaited<ReturnType<System['api']>>;

/** Two workers and a project whose mail goes to the sink. A project gets half of a worker's slots, so two campaigns run in different workers. */
async function twoWorkers(sink: SmtpSink, settings: object, env: Record<string, string> = {}) {
  const system = await startSystem({ smtpUrl: sink.url, env: { WORKER_CAMPAIGN_SLOTS: '2', ...env } });
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
    [newId('prv'), api.projectId, { host: '127.0.0.1', port: Number(port), tls: 'optional', ...settings }],
  );
  return { system, other, api };
}

/** Sends a campaign to 2,000 recipients whose addresses begin with its name. */
async function sendCampaign(system: System, api: SystemApi, name: string): Promise<void> {
  const id = await addCampaign(system.pool, api, { name, recipients: 2_000 });
  expect((await api.post(`/v1/campaigns/${id}/send`)).status).toBe(202);
}

/** Messages per second that the sink accepts. */
async function rateOf(sink: SmtpSink, seconds: number): Promise<number> {
  const before = sink.mails.length;
  const began = performance.now();
  await sleep(seconds * 1000);
  return (sink.mails.length - before) / ((performance.now() - began) / 1000);
}

/**
 * Measures the rate for four seconds at a time until it is above `target`, at most `rounds` times: a busy machine needs longer to reach it.
 * @returns each rate that was measured.
 */
async function ratesUntilAbove(sink: SmtpSink, target: number, rounds: number): Promise<number[]> {
  const rates: number[] = [];
  while (rates.length < rounds && (rates.at(-1) ?? 0) <= target) rates.push(await rateOf(sink, 4));
  return rates;
}

const MAILS_PER_SECOND = 40;

test('two workers send through a provider at its rate, and after kill -9 of one the other gets all of it within seconds', async () => {
  const sink = await startSmtpSink();
  const { system, other, api } = await twoWorkers(sink, { connections: 4, ratePerSecond: MAILS_PER_SECOND });
  for (const name of ['first', 'second']) await sendCampaign(system, api, name);
  const sent = (prefix: string) => sink.mails.filter(({ to }) => to.startsWith(prefix)).length;
  await eventually(() => expect(Math.min(sent('first'), sent('second'))).toBeGreaterThan(5), 60_000);

  const ofBoth = await rateOf(sink, 6);
  expect(ofBoth).toBeLessThanOrEqual(MAILS_PER_SECOND * 1.15);
  expect(ofBoth).toBeGreaterThan(MAILS_PER_SECOND * 0.6);
  await other.kill();
  await sleep(1_500);
  const ofOne = await ratesUntilAbove(sink, MAILS_PER_SECOND * 0.6, 5);
  expect(Math.max(...ofOne)).toBeLessThanOrEqual(MAILS_PER_SECOND * 1.15);
  expect(ofOne.at(-1)).toBeGreaterThan(MAILS_PER_SECOND * 0.6);
}, 180_000);

const REQUESTS_AT_ONCE = 10;
/** How long the mail server and the endpoint take to answer, in milliseconds. */
const ANSWER_MS = 200;

test('two workers together keep to the connections of a provider and the requests per endpoint, also after kill -9 of one', async () => {
  const sink = await startSmtpSink(() => sleep(ANSWER_MS, undefined));
  // Half of the connections are for campaigns, and the two campaigns could use many.
  const { system, other, api } = await twoWorkers(
    sink,
    { connections: 4 },
    { WEBHOOK_REQUESTS_PER_ENDPOINT: String(REQUESTS_AT_ONCE) },
  );
  let [open, mostRequests] = [0, 0];
  const receiver = await startReceiver((_received, response) => {
    open++;
    mostRequests = Math.max(mostRequests, open);
    response.once('close', () => open--);
    setTimeout(() => response.writeHead(204).end(), ANSWER_MS);
  });
  onTestFinished(receiver.close);
  expect((await api.post('/v1/webhooks', { url: receiver.url, events: ['contact.created'] })).status).toBe(201);
  for (const name of ['first', 'second']) await sendCampaign(system, api, name);
  const batch = async (name: string) => {
    const contacts = Array.from({ length: 500 }, (_, at) => ({ email: `${name}${at}@hooks.test` }));
    expect((await api.post('/v1/contacts/batch', { contacts })).status).toBeLessThan(300);
  };
  await batch('early');
  const sent = (prefix: string) => sink.mails.filter(({ to }) => to.startsWith(prefix)).length;
  await eventually(() => expect(Math.min(sent('first'), sent('second'))).toBeGreaterThan(3), 60_000);
  await eventually(() => expect(receiver.received.length).toBeGreaterThan(200), 60_000);
  await other.kill();
  await batch('late');
  // The other worker gets the connection of the killed one: two take 10 messages a second.
  const oneConnection = 1_000 / ANSWER_MS;
  const ofOne = await ratesUntilAbove(sink, oneConnection * 1.2, 8);
  expect(ofOne.at(-1)).toBeGreaterThan(oneConnection * 1.2);
  await eventually(() => {
    const ids = new Set(receiver.received.map(({ event }) => event.id));
    expect(ids.size).toBe(1_000);
  }, 120_000);
  expect(sink.mostConnections()).toBe(2);
  expect(mostRequests).toBeLessThanOrEqual(REQUESTS_AT_ONCE);
  expect(mostRequests).toBeGreaterThan(REQUESTS_AT_ONCE / 2);
}, 300_000);
