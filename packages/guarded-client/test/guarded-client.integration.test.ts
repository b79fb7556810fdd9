import { createSecureServer } from 'node:http2';
import { createServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type Server, type Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { createGuardedClient } from '../src/guarded-client.ts';
import { certificate, client, closeAll, HURRIED, LIMITS, listen, rawReceiver, receiver, text } from './receivers.ts';

afterEach(closeAll);

test('posts the body byte for byte with the given headers, and reads status and body', async () => {
  let seen: { method?: string | undefined; id?: unknown; body?: string; path?: string | undefined } = {};
  const { url } = await receiver(async (request, response) => {
    seen = {
      method: request.method,
      id: request.headers['x-webhook-id'],
      body: await text(request),
      path: request.url,
    };
    response.writeHead(202, { 'retry-after': '7' }).end('thanks, Zoë');
  });
  const answer = await client()(`${url}?token=x%20y`, '{"name":"Zoë 🐘"}');
  expect(seen).toEqual({ method: 'POST', id: 'a1', body: '{"name":"Zoë 🐘"}', path: '/hook?token=x%20y' });
  expect(answer).toMatchObject({ status: 202, error: null, body: 'thanks, Zoë', retryAfter: '7' });
  expect(answer.durationMs).toBeLessThan(LIMITS.deadlineMs);
});

test('connections to an origin are kept alive and reused', async () => {
  const ports = new Set<number | undefined>();
  const { url } = await receiver((request, response) => {
    ports.add(request.socket.remotePort);
    response.end();
  });
  const post = client();
  for (let n = 0; n < 5; n++) await post(url);
  expect(ports.size).toBe(1);
});

test('HTTP/1.1 over TLS is used where a receiver offers no other, and its connection is reused', async () => {
  const tls = certificate();
  const ports = new Set<number | undefined>();
  const { port } = await listen(
    createHttpsServer(tls, async (request, response) => {
      ports.add(request.socket.remotePort);
      response.end(`${request.httpVersion} ${request.headers.host} ${await text(request)}`);
    }),
  );
  const post = client({ ca: tls.cert, resolve: () => Promise.resolve(['127.0.0.1']) });
  for (const word of ['one', 'two']) {
    const answer = await post(`https://two.example:${port}/`, word);
    expect(answer).toMatchObject({ status: 200, error: null, body: `1.1 two.example:${port} ${word}` });
  }
  expect(ports.size).toBe(1);
});

test('a receiver that hangs before its status, in it, or after that of an error is a failure', async () => {
  const silent = await rawReceiver(() => {});
  const inStatus = await rawReceiver((socket) => socket.write('HTTP/1.1 200'));
  const inHeaders = await rawReceiver((socket) => socket.write('HTTP/1.1 500 No\r\nX-Slow: '));
  const inBody = await rawReceiver((socket) => socket.write('HTTP/1.1 500 No\r\nContent-Length: 10\r\n\r\n12'));
  const post = client(HURRIED);
  const started = performance.now();
  const answers = await Promise.all([silent, inStatus, inHeaders, inBody].map(({ url }) => post(url)));
  expect(performance.now() - started).toBeLessThan(8_000); // far from the ten seconds of production
  expect(answers.map(({ error }) => error)).toEqual(Array(4).fill('No complete response within 0.4 seconds.'));
  expect(answers.map(({ status }) => status)).toEqual([null, null, 500, 500]);
});

/** Sends the start at once, and a drop every 20 ms until the connection ends. */
function trickle(socket: Socket, start: string, drop: string): void {
  socket.write(start);
  const drip = setInterval(() => socket.write(drop), 20);
  socket.on('close', () => clearInterval(drip));
}

const STATUS = 'HTTP/1.1 200 OK\r\n';
const OK = `${STATUS}Content-Length: 10\r\n\r\n`;
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
test.each<[string, (socket: Socket) => unknown, string]>([
  ['body never comes', (socket) => socket.write(OK), ''],
  ['body hangs', (socket) => socket.write(`${OK}12`), '12'],
  ['body trickles', (socket) => trickle(socket, 'HTTP/1.1 202 OK\r\nContent-Length: 5000\r\n\r\n', 'x'), 'x'],
  ['body is cut off', (socket) => socket.end(`${OK}12`), '12'],
  ['body is reset', (socket) => socket.write(`${OK}12`, () => setTimeout(() => socket.resetAndDestroy(), 50)), '12'],
  ['body has broken chunks', (socket) => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'), ''],
  ['body is longer than it says', (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n123456'), '12'],
  ['headers exceed 16 KB', (socket) => socket.write(`${STATUS}X-A: ${'b'.repeat(20_000)}\r\n\r\n12`), ''],
  ['headers are 10,000', (socket) => socket.write(`${STATUS}${'X-A: b\r\n'.repeat(10_000)}\r\n12`), ''],
  ['headers hang', (socket) => socket.write(`${STATUS}X-Slow: `), ''],
  ['headers trickle', (socket) => trickle(socket, STATUS, 'X-A: b\r\n'), ''],
  ['headers are no headers', (socket) => socket.write(`${STATUS}\x00\x01\r\n\r\n`), ''],
  ['headers are cut off', (socket) => socket.end(`${STATUS}X-A`), ''],
  ['headers are reset', (socket) => socket.write(STATUS, () => setTimeout(() => socket.resetAndDestroy(), 50)), ''],
  ['reason is missing', (socket) => socket.write('HTTP/1.1 200\r\nX-Slow: '), ''],
  ['status comes after 100 Continue', (socket) => socket.write(`${CONTINUE}${STATUS}X-Slow: `), ''],
])('a 2xx acknowledges at once when its %s, and the receiver gets the event once', async (_, talk, begin) => {
  let connections = 0;
  const { url } = await rawReceiver((socket) => {
    connections++;
    socket.once('data', () => talk(socket));
  });
  const answer = await client()(url);
  expect(answer).toMatchObject({ error: null, body: expect.stringMatching(`^${begin}`) });
  expect([200, 202]).toContain(answer.status);
  expect(answer.durationMs).toBeLessThan(LIMITS.bodyGraceMs + (LIMITS.deadlineMs - LIMITS.bodyGraceMs) / 2);
  expect(connections).toBe(1);
});

test.each([
  ['100 Continue', CONTINUE],
  ['100 Continue with headers', 'HTTP/1.1 100 Continue\r\nServer: x\r\nX-A: b\r\n\r\n'],
  ['several of them', CONTINUE.repeat(3)],
  ['103 Early Hints', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'],
  ['102 and 100', `HTTP/1.1 102 Processing\r\n\r\n${CONTINUE}`],
])('%s before the response changes nothing, wherever the bytes are cut', async (_, interim) => {
  const body = 'HTTP/1.1 100 Continue'; // text like any other once the response began
  const whole = `${interim}HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const ports = new Set<number | undefined>();
  let cut = 0;
  const { url } = await rawReceiver((socket) => {
    socket.setNoDelay(true);
    socket.on('data', () => {
      ports.add(socket.remotePort);
      socket.write(whole.slice(0, cut), () => setTimeout(() => socket.write(whole.slice(cut)), 3));
    });
  });
  const post = client();
  for (cut = 1; cut < whole.length; cut += 3) {
    expect(await post(url)).toMatchObject({ status: 200, error: null, body });
  }
  expect(ports.size).toBe(1);
});

test('an interim response does not count: the final one must arrive in time, and its failure counts', async () => {
  const silent = await rawReceiver((socket) => socket.write(CONTINUE));
  const failing = await rawReceiver((socket) =>
    socket.once('data', () => socket.write(`${CONTINUE}HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n`)),
  );
  const gone = await rawReceiver((socket) => socket.once('data', () => socket.end(CONTINUE)));
  const post = client(HURRIED);
  expect(await post(silent.url)).toMatchObject({ status: null });
  expect(await post(failing.url)).toMatchObject({ status: 500, error: null });
  expect(await post(gone.url)).toMatchObject({ status: null, error: expect.stringMatching(/broke before/) });
});

test('a receiver that sends the headers of an error one by one is cut off at the deadline', async () => {
  const { url } = await rawReceiver((socket) => trickle(socket, 'HTTP/1.1 500 No\r\n', 'X-A: b\r\n'));
  const answer = await client(HURRIED)(url);
  expect(answer.error).toBe('No complete response within 0.4 seconds.');
  expect(answer.durationMs).toBeLessThan(8_000); // it goes on for ever
});

test('name resolution counts towards the deadline', async () => {
  const { port } = await receiver((_, response) => response.end());
  const post = client({ ...HURRIED, resolve: () => new Promise(() => {}) });
  expect(await post(`http://slow.example:${port}/`)).toMatchObject({
    status: null,
    error: 'No complete response within 0.4 seconds.',
  });
});

test('a request that never connects is not sent after its deadline', async () => {
  let requests = 0;
  const { port } = await receiver((_, response) => {
    requests++;
    response.end();
  });
  const slow = new Promise<string[]>((resolve) => setTimeout(() => resolve(['127.0.0.1']), 600));
  const post = client({ ...HURRIED, resolve: () => slow });
  expect((await post(`http://late.example:${port}/`)).error).toMatch(/^No complete response/);
  await slow;
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(requests).toBe(0);
});

test('redirects are treated as any other response and never followed', async () => {
  let followed = false;
  const target = await receiver((_, response) => {
    followed = true;
    response.end();
  });
  const { url } = await receiver((_, response) => response.writeHead(307, { location: target.url }).end());
  expect(await client()(url)).toMatchObject({ status: 307, error: null });
  expect(followed).toBe(false);
});

test('only 4 KB of a huge body are kept, and the connection is dropped', async () => {
  let sent = 0;
  const { url } = await receiver((_, response) => {
    const chunk = Buffer.alloc(65_536, 'x');
    const pump = () => {
      while (!response.destroyed && sent < 1e9) {
        sent += chunk.length;
        if (!response.write(chunk)) return void response.once('drain', pump);
      }
    };
    pump();
  });
  const answer = await client()(url);
  expect(answer).toMatchObject({ status: 200, error: null });
  expect(answer.body).toBe('x'.repeat(LIMITS.responseBytes));
  expect(sent).toBeLessThan(20e6);
});

test('endless headers are not read on, whatever the status', async () => {
  for (const status of ['200 OK', '500 No']) {
    let sent = 0;
    const { url } = await rawReceiver((socket) => {
      const chunk = Buffer.from(`X-A: ${'b'.repeat(1_000)}\r\n`.repeat(60));
      const pump = () => {
        while (!socket.destroyed && sent < 1e9) {
          sent += chunk.length;
          if (!socket.write(chunk)) return void socket.once('drain', pump);
        }
      };
      socket.write(`HTTP/1.1 ${status}\r\n`, pump);
    });
    expect((await client()(url)).status).toBe(Number(status.slice(0, 3)));
    expect(sent).toBeLessThan(20e6);
  }
});

test('a body truncated at 4 KB ends with a whole character and contains no NUL', async () => {
  const { url } = await receiver((_, response) => response.end(`\0${'é'.repeat(3000)}`));
  const { body } = await client()(url);
  expect(body).toBe(`\uFFFD${'é'.repeat((LIMITS.responseBytes - 2) / 2)}`);
});

test.each([
  ['resets the connection', (socket: Socket) => socket.once('data', () => socket.resetAndDestroy()), /broke before/],
  ['closes without an answer', (socket: Socket) => socket.once('data', () => socket.end()), /broke before/],
  [
    'breaks off in the body of an error',
    (socket: Socket) => socket.once('data', () => socket.end('HTTP/1.1 500 No\r\nContent-Length: 10\r\n\r\n12')),
    /broke before/,
  ],
  [
    'sends garbage',
    (socket: Socket) => socket.once('data', () => socket.end(Buffer.from('\x00\x01garbage\r\n\r\n'))),
    /not HTTP/,
  ],
  [
    'sends garbage with a 200 in its place',
    (socket: Socket) => socket.once('data', () => socket.end('HTTQ/1.1 200 OK\r\n\r\n')),
    /not HTTP/,
  ],
  [
    'sends a status below 100',
    (socket: Socket) => socket.once('data', () => socket.end('HTTP/1.1 099 Low\r\n\r\n')),
    /^The response was not HTTP\.$/,
  ],
  [
    'switches protocols',
    (socket: Socket) => socket.once('data', () => socket.end('HTTP/1.1 101 Go\r\n\r\nHTTP/1.1 200 OK\r\n\r\n')),
    /./,
  ],
  [
    'sends endless headers',
    (socket: Socket) =>
      socket.once('data', () => socket.end(`HTTP/1.1 500 No\r\n${'X-A: bbbbbbbb\r\n'.repeat(10_000)}\r\n`)),
    /headers were too large|not HTTP/,
  ],
])('a receiver that %s has failed, and it gets the event once in this attempt', async (_, talk, words) => {
  let connections = 0;
  const { url } = await rawReceiver((socket) => {
    connections++;
    talk(socket);
  });
  const answer = await client()(url);
  expect(answer.error).toMatch(words);
  expect(connections).toBe(1);
});

test('a stale keep-alive connection costs no attempt: the request is sent again on a new one', async () => {
  const bodies: string[] = [];
  const ids: (string | undefined)[] = [];
  const { url } = await rawReceiver((socket, connection) => {
    let requests = 0;
    socket.on('data', (data) => {
      ids.push(/x-webhook-id: (\w+)/i.exec(data.toString())?.[1]);
      // Closes the first connection when the second request arrives, as servers do with idle ones.
      if (connection === 1 && ++requests === 2) return void socket.resetAndDestroy();
      bodies.push(data.toString().split('\r\n\r\n')[1] ?? '');
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    });
  });
  const post = client();
  expect(await post(url, 'one')).toMatchObject({ status: 200 });
  expect(await post(url, 'two')).toMatchObject({ status: 200, error: null });
  expect(bodies).toEqual(['one', 'two']);
  // The receiver may have read the unanswered request, so this counts as another attempt there.
  expect(ids).toEqual(['a1', 'a2', 'a3']);
});

test('a receiver that closes a kept connection a while after it read the request gets no other: it may have handled it', async () => {
  let requests = 0;
  const { url } = await rawReceiver((socket) => {
    socket.on('data', () => {
      if (++requests === 2) setTimeout(() => socket.end(), 1_200);
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    });
  });
  const post = client();
  expect(await post(url)).toMatchObject({ status: 200 });
  expect(await post(url)).toMatchObject({
    status: null,
    error: 'The connection broke before the response was complete.',
  });
  expect(requests).toBe(2);
});

test('one repetition is enough, even if the receiver has closed all idle connections', async () => {
  let isRestarted = false;
  const { url } = await rawReceiver((socket) => {
    const isOld = !isRestarted;
    socket.on('data', () => {
      if (isOld && isRestarted) socket.resetAndDestroy();
      else setTimeout(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'), 50);
    });
  });
  const post = client();
  await Promise.all([post(url), post(url), post(url)]);
  isRestarted = true;
  expect(await post(url)).toMatchObject({ status: 200, error: null });
});

test.each([
  ['with it', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n', ''],
  ['later', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', 'HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n'],
])('what a receiver sends after a response, %s, is not taken for the next one', async (_, first, later) => {
  const closed = Promise.withResolvers<unknown>();
  const { url } = await rawReceiver((socket, connection) => {
    socket.on('close', closed.resolve);
    socket.on('data', () => {
      socket.write(first);
      if (connection === 1 && later !== '') setTimeout(() => socket.write(later), 50);
    });
  });
  const post = client();
  await post(url);
  await closed.promise;
  expect(await post(url)).toMatchObject({ status: 200 });
});

test('a connection is kept while it is idle as long as the receiver says, else for four seconds', async () => {
  const closed: string[] = [];
  const respond = (socket: Socket, path: string) => {
    socket.on('close', () => closed.push(path));
    const header =
      path === '/short' ? 'Keep-Alive: timeout=2\r\n' : path === '/long' ? 'Keep-Alive: timeout=60\r\n' : '';
    socket.write(`HTTP/1.1 200 OK\r\n${header}Content-Length: 0\r\n\r\n`);
  };
  const { port } = await rawReceiver((socket) =>
    socket.once('data', (data) => respond(socket, data.toString().split(' ')[1] ?? '')),
  );
  const post = client();
  const url = (path: string) => `http://127.0.0.1:${port}${path}`;
  await Promise.all(['/short', '/long', '/unsaid'].map((path) => post(url(path))));
  await vi.waitUntil(() => closed.length === 1, 3_000);
  await vi.waitUntil(() => closed.length === 2, 8_000);
  expect(closed).toEqual(['/short', '/unsaid']);
});

test('a connection that is made after the deadline is used by the next post', async () => {
  let connections = 0;
  const { port } = await receiver((request, response) => void response.end(String(request.socket.remotePort)));
  const answers = [new Promise<string[]>((resolve) => setTimeout(() => resolve(['127.0.0.1']), 600))];
  const resolve = () => {
    connections++;
    return answers[0] as Promise<string[]>;
  };
  const post = client({ ...HURRIED, resolve });
  const url = `http://late.example:${port}/`;
  expect((await post(url)).error).toMatch(/^No complete response/);
  await answers[0];
  await new Promise((done) => setTimeout(done, 200));
  expect(await post(url)).toMatchObject({ status: 200 });
  expect(connections).toBe(1);
});

test('a header that would end early is not sent', async () => {
  const seen: unknown[] = [];
  const { url } = await receiver((request, response) => {
    seen.push(request.headers);
    response.end();
  });
  const created = createGuardedClient({ scope: 'private', ...LIMITS });
  const answer = await created.post({ url, headers: () => ({ 'x-a': 'b\r\nx-c: d' }), body: '' });
  await created.close();
  expect(answer).toMatchObject({ status: null, error: "The header x-a has characters that can't be sent." });
  expect(seen).toEqual([]);
});

test('a keep-alive connection that fails after the response started is not retried', async () => {
  let requests = 0;
  const { url } = await rawReceiver((socket) => {
    socket.on('data', () => {
      if (++requests === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      else socket.end('HTTP/1.1 500 No\r\nContent-Le');
    });
  });
  const post = client();
  await post(url);
  expect((await post(url)).error).toMatch(/broke before/);
  expect(requests).toBe(2);
});

test('a refused connection is reported', async () => {
  const { server, url } = await receiver(() => {});
  await new Promise((resolve) => server.close(resolve));
  expect(await client()(url)).toMatchObject({ status: null, error: 'The connection was refused.' });
});

test('an unresolvable hostname is reported', async () => {
  const post = client({ resolve: () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' })) });
  expect(await post('http://nowhere.example/')).toMatchObject({
    status: null,
    error: 'The hostname does not resolve.',
  });
});

test('outside development a name that resolves to private addresses is not called, whatever it resolved to before', async () => {
  let connections = 0;
  const tls = certificate();
  const server = createSecureServer({ ...tls, allowHTTP1: true }, (_, response) => void response.end());
  const { port } = await listen(server as unknown as Server);
  server.on('connection', () => connections++);
  // The name resolves to a public address first and loopback later, as in a rebinding attack.
  const answers = [['203.0.113.1', '10.0.0.7'], ['169.254.169.254'], ['127.0.0.1'], ['::ffff:127.0.0.1'], []];
  const post = client({ scope: 'public', ca: tls.cert, resolve: () => Promise.resolve(answers.shift() ?? []) });
  for (let n = 0; n < 5; n++) {
    expect((await post(`https://rebinds.example:${port}/`)).error).toMatch(/private or reserved/);
  }
  expect(connections).toBe(0);
});

test('of several addresses, only allowed ones are tried', async () => {
  const { port } = await receiver((_, response) => response.end('here'));
  const post = client({ resolve: () => Promise.resolve(['169.254.169.254', '127.0.0.1', 'fe80::1']) });
  expect(await post(`http://mixed.example:${port}/`)).toMatchObject({ status: 200, body: 'here' });
});

test.each([
  ['https://127.0.0.1/', 'private'],
  ['https://0x7f.1/', 'private'],
  ['https://2130706433/', 'private'],
  ['https://[::1]/', 'private'],
  ['https://[::ffff:169.254.169.254]/', 'private'],
  ['https://169.254.169.254/latest/meta-data', 'private'],
  ['http://example.com/', 'https://'],
  ['ftp://example.com/', 'https://'],
  ['https://user:pw@example.com/', 'password'],
  ['/hook', 'absolute'],
])('outside development %s is refused without a connection', async (url, words) => {
  const answer = await client({ scope: 'public', resolve: () => Promise.reject(new Error('resolved')) })(url);
  expect(answer.status).toBeNull();
  expect(answer.error).toContain(words);
});

const OLD = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;

test.each([
  ['an untrusted certificate', 'two.example', {}, undefined, 'The certificate is self-signed.'],
  ['a certificate for another name', 'other.example', {}, 'trusted', 'The certificate is for another hostname.'],
  ['an old version of TLS', 'two.example', OLD, 'trusted', 'The receiver supports no version of TLS from 1.2 on.'],
])('%s is a failure that says so', async (_, host, options, trust, error) => {
  const tls = certificate();
  const { port } = await listen(createHttpsServer({ ...tls, ...options }, (_request, response) => response.end()));
  const ca = trust === undefined ? {} : { ca: tls.cert };
  const answer = await client({ ...ca, resolve: () => Promise.resolve(['127.0.0.1']) })(`https://${host}:${port}/`);
  expect(answer).toMatchObject({ status: null, error });
});

test('a receiver that speaks no TLS is a failure that says so', async () => {
  const { port } = await listen(createServer((_, response) => response.end()));
  const answer = await client({ resolve: () => Promise.resolve(['127.0.0.1']) })(`https://two.example:${port}/`);
  expect(answer).toMatchObject({ status: null, error: 'The receiver does not speak TLS on this port.' });
});
