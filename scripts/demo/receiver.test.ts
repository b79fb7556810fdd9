import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isSigned, Receiver } from './receiver.ts';

const SECRET = 'whsec_c2VjcmV0';
const NOW = 1_800_000_000;
const sign = (timestamp: number, body: string, secret = SECRET) => {
  const hmac = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  return `t=${timestamp},v1=${hmac}`;
};

test('the signature is of the timestamp, a dot and the raw body', () => {
  const body = '{"id":"evt_1", "name":"Zoé"}';
  expect(isSigned(sign(NOW, body), Buffer.from(body), SECRET, NOW)).toBe(true);
  expect(isSigned(sign(NOW, body), Buffer.from(JSON.stringify(JSON.parse(body))), SECRET, NOW)).toBe(false);
  expect(isSigned(sign(NOW, body, 'whsec_other'), Buffer.from(body), SECRET, NOW)).toBe(false);
});

test.each([
  [300, true],
  [-300, true],
  [301, false],
  [-301, false],
])('a timestamp %i seconds away is accepted: %s', (away, accepted) => {
  expect(isSigned(sign(NOW + away, '{}'), Buffer.from('{}'), SECRET, NOW)).toBe(accepted);
});

test.each([[''], ['t=1'], ['v1=00'], ['t=x,v1=00'], [`t=${NOW},v1=zz`], [`t=${NOW},v1=`]])(
  '%j is no signature',
  (header) => {
    expect(isSigned(header, Buffer.from('{}'), SECRET, NOW)).toBe(false);
  },
);

let receiver: Receiver;
beforeEach(async () => {
  receiver = await Receiver.start();
  receiver.secret = SECRET;
});
afterEach(() => receiver.stop());

async function post(body: string, headers: Record<string, string>) {
  return (await fetch(receiver.url, { method: 'POST', body, headers })).status;
}
const event = (id: string, type = 'email.sent') => JSON.stringify({ id, type, created: '', project_id: '', data: {} });
const signed = (body: string, attemptId: string) => ({
  'x-webhook-signature': sign(Math.floor(Date.now() / 1000), body),
  'x-webhook-id': attemptId,
});

test('an unsigned or wrongly signed request gets 401 and is ignored', async () => {
  expect(await post(event('evt_1'), {})).toBe(401);
  expect(await post(event('evt_1'), signed(event('evt_2'), 'a'))).toBe(401);
  expect(receiver.events).toBe(0);
  expect(receiver.tally).toMatchObject({ posts: 2, refused: 2, verified: 0 });
});

test('a repeated event is acknowledged and counted as a repeat', async () => {
  expect(await post(event('evt_1'), signed(event('evt_1'), 'a'))).toBe(204);
  expect(await post(event('evt_1'), signed(event('evt_1'), 'b'))).toBe(204);
  expect(await post(event('evt_2'), signed(event('evt_2'), 'b'))).toBe(204);
  expect(receiver.events).toBe(2);
  expect(receiver.tally).toMatchObject({ verified: 3, repeatedEvents: 1, repeatedAttempts: 1 });
  expect([...receiver.tally.byType]).toEqual([['email.sent', 2]]);
});
