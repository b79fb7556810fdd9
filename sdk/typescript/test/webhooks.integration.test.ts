import { newSigningSecret, signature } from '../../../packages/guarded-client/src/signature.ts';
import { eventually, startReceiver, startTestWorker, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { Postroom, verifyWebhook, WebhookVerificationError } from '../src/index.ts';

const secret = newSigningSecret();
const timestamp = 1_795_253_400;
const now = new Date(timestamp * 1000);
const body = JSON.stringify({
  id: 'evt_01kaq2m5xbeqx9m3c0k7d1h2vt',
  type: 'contact.created',
  created: '2026-11-21T09:30:00.000Z',
  project_id: 'prj_01kaq2m5xaf0x8y4qm9c1b7t3r',
  data: { contact_id: 'ctc_01kaq2m5xbf9m8v6t4r2p0n1k3', email: 'zoë@example.com', name: 'Zoë 🐘' },
});

/** The header as Postroom's own code signs it. */
const signed = ([current = secret, previous]: string[], text = body, at = timestamp) => {
  const what = { eventId: 'evt_1', timestamp: at, body: text };
  return {
    'x-webhook-signature': signature(current, what),
    ...(previous === undefined ? {} : { 'x-webhook-signature-previous': signature(previous, what) }),
  };
};

const refusalOf = async (attempt: Promise<unknown>) => {
  const error = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(WebhookVerificationError);
  return (error as WebhookVerificationError).reason;
};

test('a request signed with the secret is verified, and its event returned', async () => {
  const event = await verifyWebhook(body, signed([secret]), secret, { now });
  expect(event).toEqual(JSON.parse(body));
});

test('headers may be a Headers or an object as in Node, with names in any case', async () => {
  const value = signed([secret])['x-webhook-signature'];
  for (const headers of [
    new Headers({ 'X-Webhook-Signature': value }),
    { 'X-Webhook-Signature': value },
    { 'x-webhook-signature': [value] },
  ]) {
    expect((await verifyWebhook(body, headers, secret, { now })).type).toBe('contact.created');
  }
});

test('the body may be text, bytes or a buffer', async () => {
  const bytes = new TextEncoder().encode(body);
  for (const raw of [body, bytes, Buffer.from(body), bytes.buffer]) {
    expect((await verifyWebhook(raw, signed([secret]), secret, { now })).id).toBe('evt_01kaq2m5xbeqx9m3c0k7d1h2vt');
  }
});

test('for a day after a rotation, the previous secret verifies too, by its own header', async () => {
  const old = newSigningSecret();
  const both = signed([secret, old]);
  for (const mine of [secret, old, [newSigningSecret(), old]]) {
    expect((await verifyWebhook(body, both, mine, { now })).type).toBe('contact.created');
  }
  expect(await refusalOf(verifyWebhook(body, both, newSigningSecret(), { now }))).toBe('wrong_signature');
  const { 'x-webhook-signature-previous': previous } = both;
  const alone = { 'x-webhook-signature-previous': previous };
  expect(await refusalOf(verifyWebhook(body, alone, old, { now }))).toBe('missing_signature');
  const late = new Date(now.getTime() + 301_000);
  expect(await refusalOf(verifyWebhook(body, both, old, { now: late }))).toBe('timestamp_out_of_tolerance');
});

test('another secret, body or timestamp and a truncated signature are rejected', async () => {
  const header = signed([secret])['x-webhook-signature'];
  const withHeader = (value: string) => verifyWebhook(body, { 'x-webhook-signature': value }, secret, { now });
  expect(await refusalOf(verifyWebhook(body, signed([newSigningSecret()]), secret, { now }))).toBe('wrong_signature');
  expect(await refusalOf(verifyWebhook(`${body} `, signed([secret]), secret, { now }))).toBe('wrong_signature');
  expect(await refusalOf(withHeader(header.replace(`t=${timestamp}`, `t=${timestamp + 1}`)))).toBe('wrong_signature');
  expect(await refusalOf(withHeader(header.slice(0, -1)))).toBe('malformed_signature');
  expect(await refusalOf(withHeader(header.replace('v1=', 'v0=')))).toBe('malformed_signature');
  expect(await refusalOf(withHeader(`${header},t=1`))).toBe('malformed_signature');
  expect(await refusalOf(withHeader('nonsense'))).toBe('malformed_signature');
  expect(await refusalOf(withHeader(''))).toBe('missing_signature');
  expect(await refusalOf(verifyWebhook(body, {}, secret, { now }))).toBe('missing_signature');
});

test('receivers reject timestamps more than 300 seconds away from the current time', async () => {
  const at = (seconds: number) => ({ now: new Date((timestamp + seconds) * 1000) });
  for (const seconds of [300, -300]) {
    expect((await verifyWebhook(body, signed([secret]), secret, at(seconds))).type).toBe('contact.created');
  }
  for (const seconds of [301, -301]) {
    expect(await refusalOf(verifyWebhook(body, signed([secret]), secret, at(seconds)))).toBe(
      'timestamp_out_of_tolerance',
    );
  }
  const wide = { ...at(3000), toleranceSeconds: 3600 };
  expect((await verifyWebhook(body, signed([secret]), secret, wide)).type).toBe('contact.created');
});

test('it uses the system clock unless a time is provided', async () => {
  expect(await refusalOf(verifyWebhook(body, signed([secret]), secret))).toBe('timestamp_out_of_tolerance');
  const fresh = Math.floor(Date.now() / 1000);
  expect((await verifyWebhook(body, signed([secret], body, fresh), secret)).type).toBe('contact.created');
});

test('a signed body that is not JSON is rejected', async () => {
  expect(await refusalOf(verifyWebhook('{', signed([secret], '{'), secret, { now }))).toBe('malformed_body');
});

test('a missing secret is reported first, whatever else is wrong with the request', async () => {
  for (const missing of [undefined, null, '', ' ', [], ['']]) {
    for (const headers of [signed([secret]), {}, { 'x-webhook-signature': 'nonsense' }]) {
      const refusal = verifyWebhook(body, headers, missing, { now });
      await expect(refusal).rejects.toThrow(TypeError);
      await expect(refusal).rejects.toThrow(/secret is missing/);
    }
  }
});

test('real deliveries verify with the secret shown when the endpoint was created', async () => {
  const [api, receiver] = await Promise.all([testApi(), startReceiver(), startTestWorker()]);
  const postroom = new Postroom({ apiKey: api.key, baseUrl: api.url });
  const endpoint = await postroom.webhooks.create({ url: receiver.url, events: ['contact.created'] });
  const ada = await postroom.contacts.create({ email: 'ada@example.com', name: 'Ada Lovelace' });
  const { raw, headers } = await eventually(() => {
    const [first] = receiver.received;
    if (first === undefined) throw new Error('nothing has been delivered');
    return first;
  });
  const event = await verifyWebhook(raw, headers, endpoint.secret);
  expect(event).toMatchObject({ type: 'contact.created', project_id: api.projectId, data: { contact_id: ada.id } });
  expect(await refusalOf(verifyWebhook(raw, headers, newSigningSecret()))).toBe('wrong_signature');
  const [delivery] = await eventually(async () => {
    const { data } = await postroom.webhooks.deliveries(endpoint.id, { state: 'acknowledged' });
    expect(data).toHaveLength(1);
    return data;
  });
  expect((await postroom.deliveries.get(delivery?.id as string)).event.id).toBe(event.id);
  await receiver.close();
});
