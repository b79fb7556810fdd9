import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selfSigned } from '@postroom/platform';
import {
  eventually,
  type SmtpSink,
  startApiKeyProxy,
  startMutualTlsProxy,
  startSmtpSink,
  startSystem,
  type TlsProxy,
} from '@postroom/testkit';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runChecks } from './checks.ts';

const API_KEY = 'an-api-key-of-temporal-cloud';
const [server, client, stranger] = [selfSigned(), selfSigned(), selfSigned()];
const folder = mkdtempSync(join(tmpdir(), 'postroom-temporal-tls-'));
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const target = process.env.TEMPORAL_ADDRESS ?? '';
let sink: SmtpSink;

beforeAll(async () => {
  sink = await startSmtpSink();
});
afterAll(async () => {
  await sink.close();
  rmSync(folder, { recursive: true });
});

/** What `postroom doctor worker` says of Temporal with these settings. */
const doctorSays = async (env: Record<string, string>) =>
  (await runChecks({ ...process.env, ...env }, undefined, ['worker'])).find(({ check }) => check === 'Temporal');

/** Sends an email with a worker that has these settings; returns the history of its workflow as JSON. */
async function send(env: Record<string, string>, to: string): Promise<string> {
  const system = await startSystem({ smtpUrl: sink.url, env });
  const connection = await Connection.connect({ address: target });
  try {
    await system.startWorker();
    const api = await system.api();
    const email = await api.post('/v1/emails', {
      from: 'news@example.com',
      to: [to],
      subject: 'Receipt',
      html: '<p>Thanks</p>',
    });
    expect(email.status).toBe(202);
    await eventually(() => expect(sink.counts().get(to)).toBe(1), 60_000);
    const { events } = await new Client({ connection }).workflow.getHandle(email.body.data.id).fetchHistory();
    return JSON.stringify(events);
  } finally {
    await connection.close();
    await system.stop();
  }
}

/** Both ways for a server to recognize its clients, with the settings of a client that it accepts and of one that it doesn't. */
const WAYS: [string, () => Promise<TlsProxy>, Record<string, string>, Record<string, string>][] = [
  [
    'a client certificate (mTLS)',
    () => startMutualTlsProxy(target, server, client.cert),
    {
      TEMPORAL_TLS_CLIENT_CERT_PATH: file('client.pem', client.cert),
      TEMPORAL_TLS_CLIENT_KEY_PATH: file('client.key', client.key),
    },
    {
      TEMPORAL_TLS_CLIENT_CERT_PATH: file('stranger.pem', stranger.cert),
      TEMPORAL_TLS_CLIENT_KEY_PATH: file('stranger.key', stranger.key),
    },
  ],
  [
    'an API key',
    () => startApiKeyProxy(target, server, API_KEY),
    { TEMPORAL_API_KEY_FILE: file('api-key', `${API_KEY}\n`) },
    { TEMPORAL_API_KEY: 'another-key' },
  ],
];

test.each(WAYS)(
  'the worker and doctor reach a Temporal server that demands TLS and %s',
  async (_, start, right, wrong) => {
    const proxy = await start();
    const common = { TEMPORAL_ADDRESS: proxy.address, TEMPORAL_TLS_SERVER_CA_CERT_PATH: file('ca.pem', server.cert) };
    expect(await doctorSays({ ...common, ...wrong })).toMatchObject({ status: 'failed' });
    expect(proxy.counts.accepted).toBe(0);
    expect(proxy.counts.rejected).toBeGreaterThan(0);
    expect(await doctorSays({ ...common, ...right })).not.toMatchObject({ status: 'failed' });
    const others = file('other-ca.pem', stranger.cert);
    expect(await doctorSays({ ...common, ...right, TEMPORAL_TLS_SERVER_CA_CERT_PATH: others })).toMatchObject({
      status: 'failed',
    });
    const before = proxy.counts.accepted;
    await send({ ...common, ...right }, `${proxy.address.replace(':', '-')}@mail.test`);
    expect(proxy.counts.accepted).toBeGreaterThan(before);
    await proxy.close();
  },
  120_000,
);

test('with TEMPORAL_ENCRYPT_PAYLOADS no argument, result or summary of a workflow can be read in Temporal', async () => {
  const encodings = async (env: Record<string, string>, to: string) => {
    const history = await send(env, to);
    // Search attributes must stay readable, because Temporal searches them.
    const others = history.replaceAll(/"searchAttributes":\{"indexedFields":\{.*?\}\}\}/g, '');
    const found = [...others.matchAll(/"encoding":"([^"]+)"/g)].map(([, text = '']) =>
      Buffer.from(text, 'base64').toString(),
    );
    return [...new Set(found)];
  };
  expect(await encodings({}, 'readable@mail.test')).toEqual(['json/plain']);
  expect(await encodings({ TEMPORAL_ENCRYPT_PAYLOADS: '1' }, 'encrypted@mail.test')).toEqual(['binary/encrypted']);
}, 120_000);
