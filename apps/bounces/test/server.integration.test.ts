import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { returnAddress } from '@postroom/bounces';
import { unsubscribeUrl } from '@postroom/unsubscribe';
import { lockSuppressions } from '@postroom/contacts';
import { inTransaction, newId, pool, selfSigned } from '@postroom/platform';
import { parseNetworks } from '@postroom/settings';
import { type Api, observeStatements, testApi } from '@postroom/testkit';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BounceServer, startBounceServer } from '../src/server.ts';

const tls = selfSigned();
let returns: BounceServer;
beforeAll(async () => {
  returns = await startBounceServer({ host: '127.0.0.1', port: 0, tls });
});
afterAll(() => returns.stop());

const FIXTURES = join(import.meta.dirname, '../../../modules/bounces/test/fixtures');
const fixture = (name: string) => readFileSync(join(FIXTURES, `${name}.eml`));

interface TransportOptions {
  port?: number;
  requireTLS?: boolean;
  ignoreTLS?: boolean;
}

/** The server's reply code: 250 if it accepted the mail. */
async function comesBack(to: string, raw: Buffer | string, from = '', options: TransportOptions = {}): Promise<number> {
  const transport = createTransport({
    host: '127.0.0.1',
    port: returns.port,
    tls: { ca: tls.cert, servername: 'localhost' },
    ...options,
  });
  try {
    await transport.sendMail({ envelope: { from, to: [to] }, raw });
    return 250;
  } catch (error) {
    return (error as { responseCode: number }).responseCode;
  } finally {
    transport.close();
  }
}

/** A message that a server accepted. */
async function message(api: Api, email = 'ada@example.org') {
  const id = newId('eml');
  await pool.query(
    `INSERT INTO messages (id, project_id, email, subject, state, accepted_at) VALUES ($1, $2, $3, 'Hi', 'accepted', now())`,
    [id, api.projectId, email],
  );
  return { id, address: returnAddress(id, 'bounce.news.example', { projectId: api.projectId, email }) };
}

const statusOf = async (api: Api, id: string) => (await api.get(`/v1/emails/${id}`)).body.data.status;
const suppressions = async (api: Api) =>
  (await api.get('/v1/suppressions')).body.data.map(({ reason }: { reason: string }) => reason);

test("a bounce is recorded on its message, as an event with the server's reply, and suppresses an invalid address", async () => {
  const api = await testApi();
  const { id, address } = await message(api);
  expect(await comesBack(address.toUpperCase(), fixture('gmail-unknown'))).toBe(250);
  expect(await statusOf(api, id)).toBe('bounced');
  const [event] = await api.events('email.bounced');
  expect(event?.data).toMatchObject({
    message_id: id,
    reason: expect.stringMatching(/^550.5\.1\.1 The email account/),
  });
  expect(await suppressions(api)).toEqual(['bounced']);
});

test('the project of a message is read once for its bounce', async () => {
  const api = await testApi();
  const { id, address } = await message(api);
  let reads = 0;
  const stop = observeStatements(({ text, values }) => {
    if (text.startsWith('SELECT project_id AS id FROM messages') && values?.[0] === id) reads++;
  });
  try {
    await comesBack(address, fixture('gmail-unknown'));
  } finally {
    stop();
  }
  expect([await statusOf(api, id), reads]).toEqual(['bounced', 1]);
});

test('the same mail twice is one bounce', async () => {
  const api = await testApi();
  const { address } = await message(api);
  await Promise.all([1, 2, 3].map(() => comesBack(address, fixture('qmail-unknown'))));
  expect(await api.events('email.bounced')).toHaveLength(1);
});

test('bounces of a project wait for its bulk work without holding all connections, and the rest of many are to be sent again', async () => {
  const server = await startBounceServer({ host: '127.0.0.1', port: 0, tls, perAddress: 200 });
  const send = (address: string) => comesBack(address, fixture('gmail-unknown'), '', { port: server.port });
  const [api, other] = [await testApi(), await testApi()];
  const addresses = await Promise.all(
    Array.from({ length: 80 }, async (_, index) => (await message(api, `p${index}@example.org`)).address),
  );
  const { address } = await message(other);
  let sent: Promise<number>[] = [];
  const code = await inTransaction(async (tx) => {
    await lockSuppressions(tx, api.projectId);
    sent = addresses.map(send);
    // Those beyond the ones that may wait are refused at once, so the others have arrived.
    expect(
      await Promise.any(sent.map(async (each) => ((await each) === 451 ? 451 : Promise.reject(new Error())))),
    ).toBe(451);
    return Promise.race([send(address), new Promise((resolve) => setTimeout(resolve, 5_000))]);
  });
  expect(code).toBe(250);
  const codes = await Promise.all(sent);
  expect([codes.filter((each) => each === 250).length, new Set(codes)]).toEqual([64, new Set([250, 451])]);
  await server.stop();
}, 60_000);

test.each(['outlook-block-list', 'postfix-spamhaus', 'ses-content', 'dsn-without-diagnostic', 'icloud-full'])(
  'one for our reputation, the content, a full mailbox or an unknown reason does not suppress: %s',
  async (name) => {
    const api = await testApi();
    const { id, address } = await message(api);
    await comesBack(address, fixture(name));
    expect(await statusOf(api, id)).toBe('bounced');
    expect(await suppressions(api)).toEqual([]);
  },
);

test('a complaint suppresses, and so does one to the address of feedback loops that shows our return address', async () => {
  const api = await testApi();
  const domain = `bounce.${randomBytes(6).toString('hex')}.example`;
  await pool.query(
    `INSERT INTO domains (id, project_id, domain, mail_from_domain, updated_at) VALUES ($1, $2, $3, $4, now())`,
    [newId('dom'), api.projectId, domain.slice('bounce.'.length), domain],
  );
  const [direct, looped] = [await message(api, 'a@example.org'), await message(api, 'b@example.org')];
  const report = fixture('arf-fastmail').toString();
  expect(await comesBack(direct.address, report)).toBe(250);
  const shown = report.replaceAll(/b\+[\w]+@bounce\.news\.example/g, looped.address);
  expect(await comesBack(`fbl@${domain}`, shown, 'fbl@provider.example')).toBe(250);
  expect([await statusOf(api, direct.id), await statusOf(api, looped.id)]).toEqual(['complained', 'complained']);
  expect(await suppressions(api)).toEqual(['complained', 'complained']);
  // Neither a bounce nor a complaint about mail that we did not sign has an effect there.
  const other = await message(api, 'c@example.org');
  const forged = report.replaceAll(
    /b\+[\w]+@bounce\.news\.example/g,
    other.address.replace(/.{16}@/, '0000000000000000@'),
  );
  expect(await comesBack(`fbl@${domain}`, forged)).toBe(250);
  expect(
    await comesBack(`fbl@${domain}`, fixture('postfix-unknown').toString().replaceAll(/b\+x@/g, other.address)),
  ).toBe(250);
  expect(await statusOf(api, other.id)).toBe('sent');
});

test('absences, challenges, delays and answers of people change nothing', async () => {
  const api = await testApi();
  const { id, address } = await message(api);
  for (const name of ['vacation', 'challenge', 'gmail-delay', 'person', 'empty']) {
    expect(await comesBack(address, fixture(name), 'ada@example.org')).toBe(250);
  }
  expect(await statusOf(api, id)).toBe('sent');
  expect(await suppressions(api)).toEqual([]);
});

test('addresses that we did not sign are refused, and so is every other', async () => {
  const api = await testApi();
  const { address } = await message(api);
  const [mine, theirs] = [address.slice(2, 28), newId('eml').slice(4)];
  for (const forged of [
    address.replace(mine, theirs),
    address.replace(/.{32}@/, (end) => `${end.startsWith('0') ? '1' : '0'}${end.slice(1)}`),
    address.replace('@', '0@'),
    'b+@bounce.news.example',
    'postmaster@bounce.news.example',
    'fbl@nobody.example',
    'ada@example.org',
  ]) {
    expect(await comesBack(forged, fixture('postfix-unknown'))).toBe(550);
  }
});

/** A mail that quotes the original headers, including the unsubscribe link. */
const quoting = (name: string, link: string) =>
  fixture(name)
    .toString('latin1')
    .replace(/^(Subject: .*\r?\n)(?![\s\S]*^Subject: )/m, `$1List-Unsubscribe: <${link}>\r\n`);

test.each<[string, string[]]>([
  ['gmail-unknown', ['bounced']],
  ['arf-fastmail', ['complained']],
  ['outlook-block-list', []],
])(
  '%s about a message that has been deleted suppresses as ever, by the link in the headers that it quotes',
  async (name, reasons) => {
    const api = await testApi();
    const { id, address } = await message(api);
    await pool.query('DELETE FROM messages WHERE id = $1', [id]);
    const link = unsubscribeUrl(id, { projectId: api.projectId, email: 'ada@example.org' });
    expect(quoting(name, link)).toContain(link);
    expect(await comesBack(address, quoting(name, link))).toBe(250);
    expect(await suppressions(api)).toEqual(reasons);
    const events = (await api.events()).filter(({ type }) => type.startsWith('email.'));
    expect(events).toEqual([]);
  },
);

test('a link of another message, or a forged one, does not suppress', async () => {
  const api = await testApi();
  const { id, address } = await message(api);
  await pool.query('DELETE FROM messages WHERE id = $1', [id]);
  const to = { projectId: api.projectId, email: 'ada@example.org' };
  const other = unsubscribeUrl(newId('eml'), to);
  for (const link of [other, other.replace(/u\/\w{26}/, `u/${id.slice(4)}`)]) {
    expect(await comesBack(address, quoting('gmail-unknown', link))).toBe(250);
  }
  expect(await suppressions(api)).toEqual([]);
});

/** A deleted email without an unsubscribe link, from a domain whose bounces we receive. */
async function deleted(api: Api, email: string) {
  const domain = `${randomBytes(6).toString('hex')}.example`;
  await pool.query(
    `INSERT INTO domains (id, project_id, domain, mail_from_domain, updated_at) VALUES ($1, $2, $3, $4, now())`,
    [newId('dom'), api.projectId, domain, `bounce.${domain}`],
  );
  return returnAddress(newId('eml'), `bounce.${domain}`, { projectId: api.projectId, email });
}

const suppressed = async (api: Api) =>
  (await api.get('/v1/suppressions')).body.data.map(
    ({ email, reason }: Record<string, string>) => `${email} ${reason}`,
  );

/** A bounce that names this address in every recipient field. */
const about = (name: string, email: string) =>
  fixture(name)
    .toString('latin1')
    .replaceAll(/\bada@[\w.-]+/g, email);

test.each([
  ['postfix-unknown', 'bounced'],
  ['gmail-unknown', 'bounced'],
  ['qmail-unknown', 'bounced'],
  ['exim-unknown', 'bounced'],
  ['arf-fastmail', 'complained'],
])(
  '%s about an email that has been deleted suppresses whom it names, if the email went there',
  async (name, reason) => {
    const api = await testApi();
    const address = await deleted(api, 'Ada+lists@example.org');
    expect(await comesBack(address, about(name, 'ada+lists@example.org'))).toBe(250);
    expect(await suppressed(api)).toEqual([`ada+lists@example.org ${reason}`]);
    expect((await api.events()).filter(({ type }) => type.startsWith('email.'))).toEqual([]);
  },
);

test('a complaint to the address of feedback loops about a deleted email suppresses its recipient', async () => {
  const api = await testApi();
  const address = await deleted(api, 'ada@example.org');
  const report = about('arf-fastmail', 'ada@example.org').replaceAll(/b\+\w+@[\w.]+/g, address);
  expect(await comesBack(`fbl@${address.split('@')[1]}`, report, 'fbl@provider.example')).toBe(250);
  expect(await suppressed(api)).toEqual(['ada@example.org complained']);
});

test("a recipient of a deleted email can't get another address suppressed with its return address", async () => {
  const [api, other] = [await testApi(), await testApi()];
  const address = await deleted(api, 'eve@example.org');
  const [, domain = ''] = address.split('@');
  const foreign = await deleted(other, 'ada@example.org');
  // A report about another recipient, a signature combined from two emails, and one for another project's domain.
  const spliced = `${address.slice(0, 48)}${foreign.slice(48, 60)}@${domain}`;
  for (const to of [address, spliced, foreign.replace(/@.*/, `@${domain}`)]) {
    expect(await comesBack(to, about('postfix-unknown', 'ada@example.org'))).toBe(250);
  }
  expect([await suppressed(api), await suppressed(other)]).toEqual([[], []]);
});

test('a soft bounce of a deleted email, and one without an address, do not suppress', async () => {
  const api = await testApi();
  const address = await deleted(api, 'ada@example.org');
  expect(await comesBack(address, about('gmail-full', 'ada@example.org'))).toBe(250);
  expect(await comesBack(address, about('postfix-unknown', 'postmaster@elsewhere.example'))).toBe(250);
  expect(await suppressed(api)).toEqual([]);
});

test('a bounce of a message that is gone, and that says not whom it went to, is taken and changes nothing', async () => {
  const to = { projectId: newId('prj'), email: 'ada@example.org' };
  const address = returnAddress(newId('eml'), 'bounce.news.example', to);
  expect(await comesBack(address, fixture('postfix-unknown'))).toBe(250);
});

test('a mail that is returned with all of its attachments is read by its beginning', async () => {
  const api = await testApi();
  const { id, address } = await message(api);
  const large = Buffer.concat([fixture('postfix-unknown'), Buffer.from(`${'x'.repeat(70)}\r\n`.repeat(50_000))]);
  expect(await comesBack(address, large)).toBe(250);
  expect(await statusOf(api, id)).toBe('bounced');
});

test('STARTTLS is offered with the certificate that was given, and not asked for', async () => {
  const api = await testApi();
  const [secret, plain] = [await message(api), await message(api)];
  expect(await comesBack(secret.address, fixture('postfix-unknown'), '', { requireTLS: true })).toBe(250);
  expect(await comesBack(plain.address, fixture('postfix-unknown'), '', { ignoreTLS: true })).toBe(250);
  expect([await statusOf(api, secret.id), await statusOf(api, plain.id)]).toEqual(['bounced', 'bounced']);
  await expect(
    createTransport({ host: '127.0.0.1', port: returns.port, requireTLS: true }).sendMail({
      envelope: { from: '', to: [secret.address] },
      raw: 'Subject: x\r\n\r\nx',
    }),
  ).rejects.toThrow(/self-signed/);
});

test('where no certificate is named, STARTTLS is not offered', async () => {
  const api = await testApi();
  const { address } = await message(api);
  const bare = await startBounceServer({ host: '127.0.0.1', port: 0 });
  try {
    const send = (more: TransportOptions) =>
      comesBack(address, fixture('postfix-unknown'), '', { port: bare.port, ...more });
    expect(await send({})).toBe(250);
    expect(await send({ requireTLS: true })).not.toBe(250);
  } finally {
    await bare.stop();
  }
});

test('a message whose outcome was unknown has been accepted when it comes back', async () => {
  const api = await testApi();
  const { id, address } = await message(api);
  await pool.query(`UPDATE messages SET state = 'unknown', accepted_at = NULL WHERE id = $1`, [id]);
  await comesBack(address, fixture('yahoo-full'));
  expect(await statusOf(api, id)).toBe('bounced');
});

test('a bounce with a NUL is rejected with 550, so that its sender does not retry for days', async () => {
  const { address } = await message(await testApi());
  expect(await comesBack(address, 'Subject: x\r\n\r\na\0b\r\n')).toBe(550);
  const inBase64 = `Subject: x\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from('550 a\0b').toString('base64')}\r\n`;
  expect([250, 550]).toContain(await comesBack(address, inBase64));
});

test('connections per address are those of senders behind a proxy that names them', async () => {
  const proxies = parseNetworks('127.0.0.1');
  const behind = await startBounceServer({ host: '127.0.0.1', port: 0, tls, perAddress: 1, proxies });
  const sockets: Socket[] = [];
  const greeting = async (header: string) => {
    const socket = connect(behind.port, '127.0.0.1').setEncoding('latin1');
    sockets.push(socket);
    socket.write(header);
    return (await once(socket, 'data'))[0] as string;
  };
  expect(await greeting('PROXY TCP4 192.0.2.1 198.51.100.1 1234 25\r\n')).toMatch(/^220/);
  expect(await greeting('PROXY TCP4 192.0.2.1 198.51.100.1 1235 25\r\n')).toMatch(/^421 4\.7\.0 Too many connections/);
  expect(await greeting('PROXY TCP6 2001:db8::1 2001:db8::2 1236 25\r\n')).toMatch(/^220/);
  for (const socket of sockets) socket.destroy();
  await behind.stop();
});

/** A sender at an address of this machine, and what it is answered. */
async function dial(port: number, localAddress = '127.0.0.1') {
  const socket = connect({ port, host: '127.0.0.1', localAddress }).setEncoding('latin1');
  const next = async () => String((await once(socket, 'data'))[0]).trimEnd();
  const greeting = await next();
  const say = (line: string) => (socket.write(`${line}\r\n`), next());
  return { socket, greeting, say };
}

test("bounces of a project, from however many addresses, leave connections for other projects' bounces", async () => {
  const small = await startBounceServer({ host: '127.0.0.1', port: 0, tls, perAddress: 2, total: 8 });
  const [noisy, quiet] = [await message(await testApi()), await message(await testApi())];
  const sockets: Socket[] = [];
  const replies: string[] = [];
  for (const from of [1, 1, 2, 2, 3, 3, 4, 4].map((end) => `127.0.0.${end}`)) {
    const { socket, greeting, say } = await dial(small.port, from);
    sockets.push(socket);
    expect(greeting).toMatch(/^220/);
    await say('EHLO test');
    await say('MAIL FROM:<>');
    replies.push(await say(`RCPT TO:<${noisy.address}>`));
  }
  expect(replies).toEqual([
    ...Array<string>(4).fill('250 2.1.5 Accepted'),
    ...Array<string>(4).fill('421 4.7.0 Too many connections with bounces of the same project; try again later'),
  ]);
  const { socket, say } = await dial(small.port, '127.0.0.7');
  sockets.push(socket);
  await say('EHLO test');
  await say('MAIL FROM:<>');
  expect(await say(`RCPT TO:<${quiet.address}>`)).toBe('250 2.1.5 Accepted');
  for (const each of sockets) each.destroy();
  await small.stop();
});

test('a sender that guesses addresses is closed, even if it knows one', async () => {
  const { address } = await message(await testApi());
  for (const [known, guesses] of [
    [[], 10],
    [[address], 50],
  ] as const) {
    const { say } = await dial(returns.port);
    await say('EHLO test');
    await say('MAIL FROM:<>');
    for (const each of known) expect(await say(`RCPT TO:<${each}>`)).toMatch(/^250/);
    for (let count = 0; count < guesses; count++)
      expect(await say(`RCPT TO:<fbl@d${count}.example>`)).toBe('550 5.1.1 No such address');
    expect(await say('RCPT TO:<fbl@d.example>')).toBe('421 4.7.0 Too many refused commands');
  }
});

test('silent senders are closed before they name an address of ours, and one address has few connections', async () => {
  const short = await startBounceServer({ host: '127.0.0.1', port: 0, tls, recipientMs: 500, perAddress: 5 });
  const { address } = await message(await testApi());
  const silent = Array.from({ length: 5 }, () => connect(short.port, '127.0.0.1').resume());
  await Promise.all(silent.map((socket) => once(socket, 'data')));
  expect(await comesBack(address, fixture('postfix-unknown'), '', { port: short.port })).toBe(421);
  await Promise.all(silent.filter((socket) => !socket.destroyed).map((socket) => once(socket, 'close')));
  expect(await comesBack(address, fixture('postfix-unknown'), '', { port: short.port })).toBe(250);
  await short.stop();
});
