import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { SMTPServerOptions } from 'smtp-server';
import { parseNetworks } from '@postroom/settings';
import { expect, onTestFinished, test } from 'vitest';
import { selfSigned } from '../src/certificate.ts';
import { type ClientLimits, HalfOpenSmtpServer, LimitedSmtpServer, networkOf } from '../src/smtp-server.ts';

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::6', '2001:db8:1:2'],
  ['2001:0db8:0001:0002::', '2001:db8:1:2'],
  ['2001:db8::6', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['', ''],
])('a client at %s has its addresses from %s', (address, network) => expect(networkOf(address)).toBe(network));

test('clients that are not trusted yet hold half of the slots at most: the oldest gives way', async () => {
  const server = new LimitedSmtpServer(
    { disabledCommands: ['AUTH', 'STARTTLS'], disableReverseLookup: true },
    { total: 4, perAddress: 100, untrustedMs: 60_000 },
  );
  const sessions: Parameters<LimitedSmtpServer['trust']>[0][] = [];
  server.onConnect = (session, callback) => (sessions.push(session), callback());
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  const open = async () => {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    expect(String((await once(socket, 'data'))[0])).toMatch(/^220/);
    return socket;
  };
  const trusted = await open();
  server.trust(sessions[0]!);
  const [oldest, younger] = [await open(), await open()];
  const told = once(oldest, 'data');
  const last = await open();
  expect(String((await told)[0])).toMatch(/^421 /);
  for (const socket of [trusted, younger, last]) {
    socket.write('NOOP\r\n');
    expect(String((await once(socket, 'data'))[0])).toMatch(/^250/);
    socket.destroy();
  }
  await new Promise<void>((resolve) => server.close(() => resolve()));
});

/** A server with its port, and clients that have read its greeting. */
async function serve(options: SMTPServerOptions, limits: Partial<ClientLimits> = {}) {
  const server = new LimitedSmtpServer(
    { disabledCommands: ['STARTTLS'], disableReverseLookup: true, hideENHANCEDSTATUSCODES: false, ...options },
    { total: 20, perAddress: 20, untrustedMs: 60_000, ...limits },
  );
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const sockets: Socket[] = [];
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const open = async () => {
    const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1').setEncoding('latin1');
    sockets.push(socket);
    const next = async () => String((await once(socket, 'data'))[0]).trimEnd();
    const greeting = await next();
    const say = (line: string) => (socket.write(`${line}\r\n`), next());
    return { socket, greeting, say };
  };
  return { server, open };
}

test('a client that is not trusted is closed after ten refused commands, and a trusted one after its own limit', async () => {
  const { server, open } = await serve(
    {
      disabledCommands: ['AUTH', 'STARTTLS'],
      onRcptTo: ({ address }, session, callback) => {
        if (!address.startsWith('known')) return callback(new Error('No such address'));
        server.trust(session);
        callback();
      },
    },
    { trustedRefusals: 15 },
  );
  for (const { recipients, refused } of [
    { recipients: [], refused: 10 },
    { recipients: ['known@example.com'], refused: 15 },
  ]) {
    const { say } = await open();
    await say('EHLO test');
    await say('MAIL FROM:<>');
    for (const address of recipients) expect(await say(`RCPT TO:<${address}>`)).toBe('250 2.1.5 Accepted');
    for (let count = 0; count < refused; count++)
      expect(await say(`RCPT TO:<guess${count}@example.com>`)).toBe('550 5.1.1 No such address');
    expect(await say('RCPT TO:<guess@example.com>')).toBe('421 4.7.0 Too many refused commands');
  }
});

test('a tenant takes one slot for a connection, however often it is trusted', async () => {
  const { server, open } = await serve(
    {
      disabledCommands: ['AUTH', 'STARTTLS'],
      onRcptTo: (_address, session, callback) =>
        callback(server.trustAs('prj_a', session) ? null : Object.assign(new Error('Too many'), { responseCode: 421 })),
    },
    { total: 4 },
  );
  const { say } = await open();
  await say('EHLO test');
  await say('MAIL FROM:<>');
  for (let count = 0; count < 5; count++) expect(await say(`RCPT TO:<a${count}@example.com>`)).toMatch(/^250/);
});

test('a full server makes room for a client by the oldest one that is not trusted', async () => {
  const { server, open } = await serve(
    {
      disabledCommands: ['AUTH', 'STARTTLS'],
      onMailFrom: (_, session, callback) => (server.trust(session), callback()),
    },
    { total: 4 },
  );
  for (let trusted = 0; trusted < 3; trusted++) {
    const { say } = await open();
    await say('EHLO test');
    await say('MAIL FROM:<>');
  }
  const idle = await open();
  const closed = once(idle.socket.resume(), 'close');
  expect((await open()).greeting).toMatch(/^220/);
  await closed;
});

test('a reply has the enhanced status code that its text begins with, else that of its code', async () => {
  const { open } = await serve({
    authOptional: true,
    onMailFrom: ({ address }, _session, callback) =>
      callback(Object.assign(new Error(address === '' ? '5.7.1 Not you' : 'Not you'), { responseCode: 550 })),
  });
  const { say } = await open();
  expect(await say('EHLO test')).toContain('ENHANCEDSTATUSCODES');
  expect(await say('MAIL FROM:<>')).toBe('550 5.7.1 Not you');
  expect(await say('MAIL FROM:<a@example.com>')).toBe('550 5.1.1 Not you');
});

test.each([
  ['without STARTTLS', false, false],
  ['within the TLS handshake', true, false],
  ['after STARTTLS', true, true],
])('an address gets its slots back when clients leave %s', async (_, starts, finishes) => {
  const server = new LimitedSmtpServer(
    { ...selfSigned(), disabledCommands: ['AUTH'], disableReverseLookup: true },
    { total: 100, perAddress: 2, untrustedMs: 60_000 },
  );
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  const visit = async () => {
    let socket: Socket = connect(port, '127.0.0.1');
    const [greeting] = (await once(socket, 'data')) as [Buffer];
    if (starts && greeting.toString().startsWith('220')) {
      socket.write('STARTTLS\r\n');
      await once(socket, 'data');
    }
    if (finishes && greeting.toString().startsWith('220')) {
      socket = connectTls({ socket, rejectUnauthorized: false });
      socket.write('EHLO client.example\r\n');
      await once(socket, 'data');
    }
    socket.on('error', () => {}).destroy();
    await sleep(50);
    return greeting.toString().slice(0, 3);
  };
  for (let time = 0; time < 4; time++) expect([time, await visit()]).toEqual([time, '220']);
  await new Promise<void>((resolve) => server.close(() => resolve()));
});

/** A server with a client that is about to send a message. */
async function inData(onData: SMTPServerOptions['onData'] & object, secure = false) {
  const server = new HalfOpenSmtpServer({
    ...selfSigned(),
    disabledCommands: ['AUTH'],
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: true,
    onData,
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  let socket: Socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).resume();
  const replyTo = async (line: string) => {
    if (line !== '') socket.write(`${line}\r\n`);
    await once(socket, 'data');
  };
  await replyTo('');
  if (secure) {
    await replyTo('EHLO x');
    await replyTo('STARTTLS');
    socket.removeAllListeners('data');
    socket = connectTls({ socket, rejectUnauthorized: false });
  }
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk) => (received += chunk));
  for (const line of ['EHLO x', 'MAIL FROM:<a@example.com>', 'RCPT TO:<b@example.com>', 'DATA']) await replyTo(line);
  received = '';
  return { server, socket, received: () => received };
}

test.each([
  ['QUIT and a FIN with the final dot, as Exim does', 'QUIT\r\n', /^250 kept\r\n221 .*\r\n$/, false],
  ['QUIT and a FIN with the final dot, over TLS', 'QUIT\r\n', /^250 kept\r\n221 .*\r\n$/, true],
  ['a FIN with the final dot', '', /^250 kept\r\n$/, false],
])('the reply to a message reaches a client that sends %s', async (_, after, replies, secure) => {
  const { server, socket, received } = await inData((stream, _session, callback) => {
    stream.resume().once('end', () => void sleep(100).then(() => callback(null, 'kept')));
  }, secure);
  socket.end(`Subject: x\r\n\r\nx\r\n.\r\n${after}`);
  await once(socket, 'close');
  expect(received()).toMatch(replies);
  await new Promise<void>((resolve) => server.close(() => resolve()));
});

test('a message without its final dot is not accepted when the client closes its side', async () => {
  const { promise: outcome, resolve } = Promise.withResolvers<unknown>();
  const { server, socket, received } = await inData((stream, _session, callback) => {
    text(stream).then(resolve, (error: Error) => {
      resolve(error);
      callback(error);
    });
  });
  socket.end('Subject: x\r\n\r\nx\r\n');
  await once(socket, 'close');
  expect(await outcome).toBeInstanceOf(Error);
  expect(received()).not.toMatch(/^250/m);
  await new Promise<void>((done) => server.close(() => done()));
});

/** A server behind a proxy on this machine, if that is trusted. */
async function behindProxy(trusted: string, limits: Partial<ClientLimits> = {}) {
  const server = new LimitedSmtpServer(
    { disabledCommands: ['AUTH', 'STARTTLS'], disableReverseLookup: true },
    { total: 20, perAddress: 2, untrustedMs: 60_000, proxies: parseNetworks(trusted), ...limits },
  );
  const clients: string[] = [];
  server.onConnect = ({ remoteAddress, remotePort }, callback) => {
    clients.push(`${remoteAddress} ${remotePort}`);
    callback();
  };
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const sockets: Socket[] = [];
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const { port } = server.server.address() as AddressInfo;
  const dial = (...pieces: (string | Buffer)[]) => {
    const socket = connect(port, '127.0.0.1')
      .setNoDelay(true)
      .on('error', () => {});
    sockets.push(socket);
    void (async () => {
      for (const piece of pieces) {
        socket.write(piece);
        await sleep(5);
      }
    })();
    return socket;
  };
  /** The first line that the server says; undefined if it closes the connection without a word. */
  const greeting = async (socket: Socket) =>
    new Promise<string | undefined>((resolve) => {
      socket.once('data', (line) => resolve(String(line).slice(0, 3)));
      socket.once('close', () => resolve(undefined));
    });
  return { server, clients, dial, greeting };
}

const from = (address: string) => `PROXY TCP4 ${address} 198.51.100.1 1234 25\r\n`;

test('clients behind a trusted proxy are counted by the address that its header names', async () => {
  const { dial, greeting, clients } = await behindProxy('127.0.0.1');
  const all = ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2'].map((address) => dial(from(address)));
  expect(await Promise.all(all.map(greeting))).toEqual(['220', '220', '421', '220']);
  expect(clients.toSorted()).toEqual(['192.0.2.1 1234', '192.0.2.1 1234', '192.0.2.2 1234']);
  all[0]?.destroy();
  await once(all[0]!, 'close');
  await sleep(50);
  expect(await greeting(dial(from('192.0.2.1')))).toBe('220');
});

test('a header may arrive byte by byte, and what follows it is from the client', async () => {
  const { dial, greeting, clients } = await behindProxy('127.0.0.0/8');
  const header = Buffer.from('0d0a0d0a000d0a515549540a2111000cc0000207c633640104d20019', 'hex');
  expect(await greeting(dial(...[...header].map((byte) => Buffer.from([byte]))))).toBe('220');
  const hasty = dial(Buffer.concat([header, Buffer.from('NOOP\r\n')]));
  expect(String((await once(hasty, 'data'))[0])).toMatch(/^421 .* You talk too soon/);
  expect(clients[0]).toBe('192.0.2.7 1234');
});

test('a health check of the proxy itself counts with its own address', async () => {
  const { dial, greeting, clients } = await behindProxy('127.0.0.1');
  expect(await greeting(dial('PROXY UNKNOWN\r\n'))).toBe('220');
  expect(clients[0]).toMatch(/^127\.0\.0\.1 /);
});

test.each([
  ['no header', 'EHLO client\r\n'],
  ['a malformed one', 'PROXY TCP4 192.0.2.300 198.51.100.1 1 2\r\n'],
  ['half of one', 'PROXY TCP4 192.0'],
  ['nothing', ''],
])('a trusted proxy is disconnected unless it sends a header in time: %s', async (_, text) => {
  const { dial, greeting, clients } = await behindProxy('127.0.0.1', { proxyHeaderMs: 200 });
  expect(await greeting(dial(text))).toBeUndefined();
  expect(clients).toEqual([]);
});

test('a header from any other peer is not a command, and the address stays', async () => {
  const { dial, greeting, clients } = await behindProxy('192.0.2.0/24');
  const socket = dial().setEncoding('latin1');
  expect(await greeting(socket)).toBe('220');
  socket.write(from('192.0.2.1'));
  expect(String((await once(socket, 'data'))[0])).toMatch(/^5\d\d /);
  expect(clients[0]).toMatch(/^127\.0\.0\.1 /);
});

test('a server closes although a proxy has not sent its header', async () => {
  const { server, dial } = await behindProxy('127.0.0.1');
  const socket = dial();
  await once(socket, 'connect');
  await sleep(50);
  const closed = once(socket, 'close');
  await new Promise<void>((resolve) => server.close(() => resolve()));
  expect(await closed).toBeDefined();
});
