import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Receiver } from './receiver.ts';

const SECRET = 'whsec_c2VjcmV0';
const sign = (timestamp: number, body: string) => {
  const hmac = createHmac('sha256', SECRET).update(`${timestamp}.${body}`).digest('hex');
  return `t=${timestamp},v1=${hmac}`;
};

let receiver: Receiver;
beforeEach(async () => {
  receiver = await Receiver.start();
  receiver.secret = SECRET;
});
afterEach(() => receiver.stop());

async function post(body: string, headers: Record<string, string>) {
  return (await fetch(receiver.url, { method: 'POST', body, headers })).status;
}
const event = (id: string) => JSON.stringify({ id, type: 'email.sent', created: '', project_id: '', data: {} });
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
});
