import { afterEach, beforeEach, expect, test } from 'vitest';
import { settlementOf } from '@postroom/ledger';
import { newId } from '@postroom/platform';
import { RateLimiter } from '../../src/rate-limiter.ts';
import type { OutgoingMessage, Transport } from '../../src/transport.ts';
import { openSes, readSesAccount } from '../../src/ses/ses.ts';
import { type SesAct, type FakeSes, startSes } from './fake-ses.ts';

let ses: FakeSes;
const transports: Transport[] = [];

beforeEach(async () => {
  ses = await startSes();
});

afterEach(async () => {
  await Promise.all(transports.splice(0).map((transport) => transport.close()));
  await ses.close();
});

async function open(
  more: { secretAccessKey?: string; configurationSet?: string; endpoint?: string } = {},
): Promise<Transport> {
  const { region, url, accessKeyId } = ses;
  const { secretAccessKey = ses.secretAccessKey, endpoint = url, ...settings } = more;
  const transport = await openSes('prv_test', { region, endpoint, ...settings }, { accessKeyId, secretAccessKey });
  transports.push(transport);
  return transport;
}

const MESSAGE: OutgoingMessage = {
  id: 'eml_01k0000000000000000000000a',
  from: 'news@example.com',
  to: 'ada@mail.test',
  data: 'From: news@example.com\r\nTo: ada@mail.test\r\nSubject: Caf\u00c3\u00a9\r\n\r\nHello\r\n..dot\r\n',
  stuffed: true,
};

const send = async (transport: Transport) => transport.send(MESSAGE, 'campaigns');

test('a message goes to SES byte for byte, signed, under its tag and in its configuration set', async () => {
  const transport = await open({ configurationSet: 'news' });
  expect(await send(transport)).toEqual({ kind: 'accepted', answer: 'Accepted by Amazon SES as 01021' });
  expect(ses.mails).toEqual([
    {
      to: ['ada@mail.test'],
      raw: 'From: news@example.com\r\nTo: ada@mail.test\r\nSubject: Caf\u00c3\u00a9\r\n\r\nHello\r\n.dot\r\n',
      tags: { 'postroom-message': MESSAGE.id },
      configurationSet: 'news',
    },
  ]);
});

test('SES is told an international domain in A-labels', async () => {
  const transport = await open();
  await transport.send({ ...MESSAGE, to: 'ada@bücher.example' }, 'campaigns');
  expect(ses.mails.map(({ to }) => to)).toEqual([['ada@xn--bcher-kva.example']]);
});

test.each<[string, string, number]>([
  ['TooManyRequestsException', 'Too many requests', 1_000],
  ['ThrottlingException', 'Maximum sending rate exceeded.', 1_000],
  ['ThrottlingException', 'Daily message quota exceeded.', 600_000],
  ['LimitExceededException', 'Daily sending quota exceeded.', 600_000],
])('%s (%s) is waited out and never a failure', async (name, message, waitMs) => {
  ses.acts.push({ status: 429, name, message });
  const transport = await open();
  const outcome = await send(transport);
  expect(outcome).toMatchObject({ kind: 'deferred', scope: 'host', waitMs });
  expect(settlementOf({ id: MESSAGE.id, deferrals: 50, deferredAt: null }, outcome).state).toBe('planned');
  expect(await send(transport)).toMatchObject({ kind: 'accepted' });
  expect(ses.requests).toBe(2);
});

test.each<[string, string, number, string]>([
  ['MessageRejected', 'Email address is not verified. The following identities failed', 400, 'configuration'],
  ['MessageRejected', 'The message contains a virus', 400, 'content'],
  ['MailFromDomainNotVerifiedException', 'MAIL FROM is not verified', 400, 'configuration'],
  ['AccountSuspendedException', 'Sending is suspended', 400, 'configuration'],
  ['SendingPausedException', 'Sending is paused', 400, 'configuration'],
  ['NotFoundException', 'Configuration set does not exist', 404, 'configuration'],
  ['AccessDeniedException', 'not authorized to perform ses:SendEmail', 403, 'configuration'],
  ['BadRequestException', 'Missing final @domain', 400, 'content'],
  ['SomethingNewException', 'an unknown exception', 400, 'other'],
])('%s (%s) is a definite refusal of kind %s', async (name, message, status, verdict) => {
  ses.acts.push({ status, name, message });
  expect(await send(await open())).toMatchObject({ kind: 'refused', verdict, answer: `${name}: ${message}` });
});

test('a secret key that is wrong is our configuration, and keeps the message', async () => {
  const outcome = await send(await open({ secretAccessKey: 'wrong' }));
  expect(outcome).toMatchObject({ kind: 'refused', verdict: 'configuration' });
  expect(settlementOf({ id: MESSAGE.id, deferrals: 0, deferredAt: null }, outcome).state).toBe('planned');
});

test.each<SesAct>([
  'cut',
  'cut within the answer',
  { status: 500, name: 'InternalServiceErrorException', message: 'x' },
])('after the request was written, %s leaves the outcome unknown, and it is not sent again', async (act) => {
  ses.acts.push(act);
  expect(await send(await open())).toMatchObject({ kind: 'unknown' });
  expect(ses.requests).toBe(1);
});

test('what never reached SES goes again', async () => {
  const transport = await open();
  await ses.close();
  expect(await send(transport)).toMatchObject({ kind: 'deferred', scope: 'host', unreachable: true });
  ses = await startSes();
});

test('the send rate is that of the account, and few messages are claimed ahead', async () => {
  ses.maxPerSecond = 14;
  expect((await open()).width).toBe(4);
  ses.maxPerSecond = 1;
  expect((await open()).width).toBe(1);
  const { region, url: endpoint, accessKeyId, secretAccessKey } = ses;
  expect(await readSesAccount({ region, endpoint }, { accessKeyId, secretAccessKey })).toEqual({
    maxPerSecond: 1,
    maxPerDay: 50_000,
    sentLastDay: 0,
    production: true,
    sendingEnabled: true,
  });
});

test('an account whose rate cannot be read is sent to slowly', async () => {
  expect((await open({ secretAccessKey: 'wrong' })).width).toBe(1);
});

test('when both wait for their turn, transactional mail goes first', async () => {
  const limiter = new RateLimiter(newId('prv'), 10);
  const order: string[] = [];
  const wait = async (traffic: 'campaigns' | 'transactional', name: string) => {
    await limiter.acquire(traffic);
    order.push(name);
  };
  await limiter.acquire('campaigns');
  await Promise.all([wait('campaigns', 'news'), wait('campaigns', 'more news'), wait('transactional', 'receipt')]);
  expect(order).toEqual(['receipt', 'news', 'more news']);
});
