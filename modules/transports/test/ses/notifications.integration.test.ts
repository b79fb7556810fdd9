import { createSign } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lockSuppressions } from '@postroom/contacts';
import { inTransaction, newId, pool, selfSigned } from '@postroom/platform';
import { type Api, testApi } from '@postroom/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { handleSesNotification, SES_PATH } from '../../src/ses/notifications.ts';
import { isSnsUrl, signedText, type SnsMessage } from '../../src/ses/sns.ts';

const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:mail-events';
const sns = selfSigned('rsa');
const stranger = selfSigned('rsa');
const expired = selfSigned('rsa', [-3, -1]);

/** The only SNS pages that may be requested. */
const pages: Record<string, string> = {
  'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-a.pem': sns.cert,
  'https://sns.eu-west-1.amazonaws.com/expired.pem': expired.cert,
  'https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=t': '<ConfirmSubscriptionResponse/>',
};
const asked: string[] = [];

let server: Server;
beforeAll(async () => {
  server = createServer((request, response) => {
    handleSesNotification(request, response, (url) => {
      asked.push(url);
      const page = pages[url];
      return page === undefined ? Promise.reject(new Error('There is no such page.')) : Promise.resolve(page);
    }).catch(() => response.writeHead(500).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** A provider with a topic in a new project, and one message that SES accepted. */
async function withProvider(settings: object = { region: 'eu-west-1', topicArn: TOPIC }) {
  const api = await testApi();
  const [id, token, messageId] = [newId('prv'), newId('prv'), newId('eml')];
  await pool.query(
    `INSERT INTO mail_providers (id, project_id, name, kind, settings, token) VALUES ($1, $2, 'SES', 'ses', $3, $4)`,
    [id, api.projectId, JSON.stringify(settings), token],
  );
  await pool.query(
    `INSERT INTO messages (id, project_id, email, subject, state, dispatched_at, accepted_at) VALUES ($1, $2, 'ada@mail.test', 'Hi', 'accepted', now(), '2026-11-21T10:00:00Z')`,
    [messageId, api.projectId],
  );
  return { api, id, token, messageId };
}

interface Signing {
  version?: '1' | '2';
  key?: string;
  change?: Partial<Record<keyof SnsMessage, string>>;
}

/** A message as SNS signs and posts it. */
function message(body: object | string, { version = '2', key = sns.key, change = {} }: Signing = {}): SnsMessage {
  const unsigned: SnsMessage = {
    Type: 'Notification',
    MessageId: newId('evt'),
    TopicArn: TOPIC,
    Message: typeof body === 'string' ? body : JSON.stringify(body),
    Timestamp: new Date().toISOString(),
    SignatureVersion: version,
    SigningCertURL: 'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-a.pem',
    Signature: '',
    ...(change as Partial<SnsMessage>),
  };
  const sign = createSign(version === '1' ? 'RSA-SHA1' : 'RSA-SHA256').update(signedText(unsigned), 'utf8');
  return { ...unsigned, Signature: sign.sign(key, 'base64') };
}

async function post(token: string, body: unknown): Promise<number> {
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}${SES_PATH}${token}`, {
    method: 'POST',
    headers: { 'Content-Type': 'text/plain; charset=UTF-8' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return response.status;
}

const event = (eventType: string, messageId: string, more: object = {}) => ({
  eventType,
  mail: { timestamp: '2026-11-21T10:00:00.000Z', messageId: '0102', tags: { 'postroom-message': [messageId] } },
  ...more,
});
const bounce = (bounceType: string, bounceSubType: string, diagnosticCode?: string) => ({
  bounce: {
    bounceType,
    bounceSubType,
    timestamp: '2026-11-21T10:00:01.000Z',
    bouncedRecipients: [{ emailAddress: 'x', diagnosticCode }],
  },
});
const eventsOf = async (api: Api) => (await api.events()).filter(({ type }) => type.startsWith('email.'));
const suppressionsOf = async (api: Api) => (await api.get('/v1/suppressions')).body.data as { reason: string }[];

test("a project's notifications wait for its bulk work without holding all connections, and SNS repeats the rest of many", async () => {
  const [noisy, quiet] = [await withProvider(), await withProvider()];
  const hard = (id: string) => message(event('Bounce', id, bounce('Permanent', 'General')));
  let posts: Promise<number>[] = [];
  const status = await inTransaction(async (tx) => {
    await lockSuppressions(tx, noisy.api.projectId);
    posts = Array.from({ length: 80 }, () => post(noisy.token, hard(noisy.messageId)));
    // Those beyond the ones that may wait are refused at once, so the others have arrived.
    expect(
      await Promise.any(posts.map(async (each) => ((await each) === 503 ? 503 : Promise.reject(new Error())))),
    ).toBe(503);
    return Promise.race([
      post(quiet.token, hard(quiet.messageId)),
      new Promise((resolve) => setTimeout(resolve, 5_000)),
    ]);
  });
  expect(status).toBe(200);
  const statuses = await Promise.all(posts);
  expect([statuses.filter((each) => each === 200).length, new Set(statuses)]).toEqual([64, new Set([200, 503])]);
}, 60_000);

test.each(['1', '2'] as const)('a notification with a signature of version %s is recorded', async (version) => {
  const { api, token, messageId } = await withProvider();
  const delivery = event('Delivery', messageId, { delivery: { timestamp: '2026-11-21T10:00:02.000Z' } });
  expect(await post(token, message(delivery, { version }))).toBe(200);
  expect(await eventsOf(api)).toMatchObject([{ type: 'email.delivered', data: { message_id: messageId } }]);
  const { rows } = await pool.query('SELECT delivered_at FROM messages WHERE id = $1', [messageId]);
  expect(rows[0].delivered_at).toEqual(new Date('2026-11-21T10:00:02.000Z'));
});

test('a notification that comes again, at the same time too, is one event', async () => {
  const { api, token, messageId } = await withProvider();
  const one = message(event('Complaint', messageId, { complaint: { complaintFeedbackType: 'abuse' } }));
  expect(await Promise.all([post(token, one), post(token, one), post(token, one)])).toEqual([200, 200, 200]);
  expect(await eventsOf(api)).toHaveLength(1);
  expect(await suppressionsOf(api)).toMatchObject([{ reason: 'complained' }]);
});

test('a notification that comes while the project is being moved is kept once, and can be posted again afterwards', async () => {
  const { api, id, token, messageId } = await withProvider();
  const one = message(event('Bounce', messageId, bounce('Permanent', 'General')));
  const trigger = `a_moving_in_${api.projectId}`;
  await pool.query(`CREATE TRIGGER ${trigger} BEFORE INSERT OR UPDATE ON provider_notifications FOR EACH ROW
    EXECUTE FUNCTION refuse_moving_project('${api.projectId}', 't.provider_id = ''${id}''')`);
  const held = () =>
    pool.query<{ path: string; body: string }>('SELECT path, body FROM held_requests WHERE project_id = $1', [
      api.projectId,
    ]);
  try {
    // Once the project has moved, the mover looks for kept requests no more.
    expect(await post(token, one)).toBe(500);
    await pool.query(
      `INSERT INTO project_cells (project_id, cell, state, move_id) VALUES ($1, 'b', 'moving', 'test')`,
      [api.projectId],
    );
    expect((await held()).rows).toEqual([]);
    expect([await post(token, one), await post(token, one)]).toEqual([200, 200]);
  } finally {
    await pool.query(`DROP TRIGGER ${trigger} ON provider_notifications`);
    await pool.query('DELETE FROM project_cells WHERE project_id = $1', [api.projectId]);
  }
  const { rows } = await held();
  expect(rows.map(({ path }) => path)).toEqual([SES_PATH + token]);
  expect(await suppressionsOf(api)).toEqual([]);
  expect(await post(token, rows[0]!.body)).toBe(200);
  expect(await suppressionsOf(api)).toMatchObject([{ reason: 'bounced' }]);
});

test.each<[string, object, string, string | undefined]>([
  ['a permanent bounce', bounce('Permanent', 'General', 'smtp; 550 5.1.1 user unknown'), 'email.bounced', 'bounced'],
  ['a permanent bounce without words', bounce('Permanent', 'OnAccountSuppressionList'), 'email.bounced', 'bounced'],
  ['a permanent bounce in unknown words', bounce('Permanent', 'NoEmail', 'smtp; 550 nope'), 'email.bounced', 'bounced'],
  [
    'a listed address of SES',
    bounce('Permanent', 'General', 'smtp; 550 5.7.1 part of their network is on our block list (S3150)'),
    'email.bounced',
    undefined,
  ],
  ['a full mailbox', bounce('Transient', 'MailboxFull', 'smtp; 452 4.2.2 full'), 'email.bounced', undefined],
  ['a transient bounce without words', bounce('Transient', 'General'), 'email.bounced', undefined],
])('%s is recorded, and suppresses an address only when that is none', async (_name, more, type, suppression) => {
  const { api, token, messageId } = await withProvider();
  expect(await post(token, message(event('Bounce', messageId, more)))).toBe(200);
  expect((await eventsOf(api)).map((one) => one.type)).toEqual([type]);
  expect((await suppressionsOf(api)).map(({ reason }) => reason)).toEqual(
    suppression === undefined ? [] : [suppression],
  );
});

test('a rejection is recorded with its reason', async () => {
  const { api, token, messageId } = await withProvider();
  expect(await post(token, message(event('Reject', messageId, { reject: { reason: 'Bad content' } })))).toBe(200);
  expect(await eventsOf(api)).toMatchObject([{ type: 'email.rejected', data: { reason: 'Bad content' } }]);
});

test.each(['DeliveryDelay', 'Open', 'Click', 'Send', 'Rendering Failure', 'SomethingNew'])(
  '%s is taken and records nothing',
  async (type) => {
    const { api, token, messageId } = await withProvider();
    expect(await post(token, message(event(type, messageId)))).toBe(200);
    expect(await eventsOf(api)).toEqual([]);
  },
);

test('who took a mail out of the spam folder has not complained', async () => {
  const { api, token, messageId } = await withProvider();
  const notSpam = event('Complaint', messageId, { complaint: { complaintFeedbackType: 'not-spam' } });
  expect(await post(token, message(notSpam))).toBe(200);
  expect(await eventsOf(api)).toEqual([]);
});

test('a message is found by the Message-ID that we gave it, when there are no tags', async () => {
  const { api, token, messageId } = await withProvider();
  const headers = [{ name: 'Message-ID', value: `<${messageId}@example.com>` }];
  expect(await post(token, message({ notificationType: 'Delivery', mail: { headers } }))).toBe(200);
  expect(await eventsOf(api)).toHaveLength(1);
});

test("nothing is recorded of another project's mail", async () => {
  const [mine, theirs] = [await withProvider(), await withProvider()];
  expect(await post(mine.token, message(event('Bounce', theirs.messageId, bounce('Permanent', 'General'))))).toBe(200);
  expect(await eventsOf(theirs.api)).toEqual([]);
});

test('a complaint or a hard bounce of a message that has been deleted suppresses whom it went to, and is no event', async () => {
  const { api, token, messageId } = await withProvider();
  await pool.query('DELETE FROM messages WHERE id = $1', [messageId]);
  const about = (to: string, more: ReturnType<typeof event>) => ({
    ...more,
    mail: { ...more.mail, destination: [to] },
  });
  const complaint = event('Complaint', messageId, { complaint: { complaintFeedbackType: 'abuse' } });
  const hard = event('Bounce', messageId, bounce('Permanent', 'General', 'smtp; 550 5.1.1 user unknown'));
  const full = event('Bounce', messageId, bounce('Transient', 'MailboxFull', 'smtp; 452 4.2.2 full'));
  for (const told of [about('ada@mail.test', complaint), about('grace@mail.test', hard), about('joan@mail.test', full)])
    expect(await post(token, message(told))).toBe(200);
  expect((await suppressionsOf(api)).map(({ reason }) => reason).sort()).toEqual(['bounced', 'complained']);
  expect(await eventsOf(api)).toEqual([]);
});

test('what is not signed by SNS, or was changed, is refused', async () => {
  const { api, token, messageId } = await withProvider();
  const delivery = event('Delivery', messageId);
  expect(await post(token, message(delivery, { key: stranger.key }))).toBe(403);
  expect(await post(token, { ...message(delivery), Message: JSON.stringify(event('Bounce', messageId)) })).toBe(403);
  expect(await post(token, { ...message(delivery), SignatureVersion: '1' })).toBe(403);
  const outOfDate = { SigningCertURL: 'https://sns.eu-west-1.amazonaws.com/expired.pem' };
  expect(await post(token, message(delivery, { key: expired.key, change: outOfDate }))).toBe(403);
  expect(await eventsOf(api)).toEqual([]);
});

test('a certificate is fetched from SNS alone, and one that cannot be had is asked for again later', async () => {
  const { token, messageId } = await withProvider();
  const before = asked.length;
  for (const url of [
    'https://evil.example/cert.pem',
    'http://sns.eu-west-1.amazonaws.com/cert.pem',
    'https://sns.eu-west-1.amazonaws.com.evil.example/cert.pem',
    'https://user@sns.eu-west-1.amazonaws.com/cert.pem',
    'https://sns.eu-west-1.amazonaws.com:8443/cert.pem',
    'https://evil.s3.amazonaws.com/sns.eu-west-1.amazonaws.com.pem',
  ]) {
    expect(isSnsUrl(url), url).toBe(false);
    expect(await post(token, message(event('Delivery', messageId), { change: { SigningCertURL: url } })), url).toBe(
      403,
    );
  }
  expect(asked.length).toBe(before);
  const missing = { SigningCertURL: 'https://sns.eu-west-1.amazonaws.com/missing.pem' };
  expect(await post(token, message(event('Delivery', messageId), { change: missing }))).toBe(503);
});

test('a subscription is confirmed when it is of the topic that the provider names', async () => {
  const { id, token } = await withProvider();
  const url = 'https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=t';
  const subscription = (change: Signing['change'] = {}) =>
    message('You have chosen to subscribe', {
      change: { Type: 'SubscriptionConfirmation', Token: 't', SubscribeURL: url, ...change },
    });
  expect(await post(token, subscription({ TopicArn: `${TOPIC}-of-somebody-else` }))).toBe(403);
  expect(await post(token, subscription({ SubscribeURL: 'https://evil.example/confirm' }))).toBe(403);
  expect(asked).not.toContain(url);
  expect(await post(token, subscription())).toBe(200);
  expect(asked).toContain(url);
  const { rows } = await pool.query('SELECT subscribed_at FROM mail_providers WHERE id = $1', [id]);
  expect(rows[0].subscribed_at).toBeInstanceOf(Date);
});

test('a provider without a topic takes nothing, and what is no message of SNS is told so', async () => {
  const { token, messageId } = await withProvider({ region: 'eu-west-1' });
  expect(await post(token, message(event('Delivery', messageId)))).toBe(403);
  const { token: other } = await withProvider();
  expect(await post(other, 'not json')).toBe(400);
  expect(await post(other, { Type: 'Notification' })).toBe(400);
  expect(await post(other, 'x'.repeat(400_000))).toBe(413);
  expect(await post('nobody', message('x'))).toBe(404);
});
