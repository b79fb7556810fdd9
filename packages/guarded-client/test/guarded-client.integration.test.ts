import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { constants, createSecureServer, type ServerHttp2Stream } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type ClientOptions, createGuardedClient } from '../src/guarded-client.ts';

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(endings.splice(0).map((end) => end()));
});

const LIMITS = { deadlineMs: 10_000, bodyGraceMs: 1_000, responseBytes: 4_096 };

/** For posts that are meant to time out. */
const HURRIED = { deadlineMs: 400 };

function client(options: Partial<ClientOptions> = {}) {
  const created = createGuardedClient({ scope: 'private', ...LIMITS, ...options });
  endings.push(() => created.close());
  let posts = 0;
  return (url: string, body = '{"id":"evt_1"}') =>
    created.post({ url, headers: () => ({ 'content-type': 'application/json', 'x-webhook-id': `a${++posts}` }), body });
}

async function listen<S extends Server>(server: S): Promise<{ server: S; port: number; url: string }> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endings.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { server, port, url: `http://127.0.0.1:${port}/hook` };
}

const receiver = (answer: RequestListener) => listen(createServer(answer));
/** A plain TCP server; `talk` gets each connection. */
const rawReceiver = (talk: (socket: Socket, connection: number) => void) => {
  let connections = 0;
  return listen(createTcpServer((socket) => talk(socket, ++connections)));
};

async function text(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

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

test('a receiver that hangs before its status, in it, or after that of an error is a failure', async () => {
  const silent = await rawReceiver(() => {});
  const inStatus = await rawReceiver((socket) => socket.write('HTTP/1.1 200'));
  const inHeaders = await rawReceiver((socket) => socket.write('HTTP/1.1 500 No\r\nX-Slow: '));
  const inBody = await rawReceiver((socket) => socket.write('HTTP/1.1 500 No\r\nContent-Length: 10\r\n\r\n12'));
  const post = client(HURRIED);
  const started = performance.now();
  const answers = await Promise.all([silent, inStatus, inHeaders, inBody].map(({ url }) => post(url)));
  expect(performance.now() - started).toBeLessThan(8_000); // far from the ten seconds of production
  expect(answers.map(({ error }) => error)).toEqual(Array(4).fill('No complete answer within 0.4 seconds.'));
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
  expect(answer.error).toBe('No complete answer within 0.4 seconds.');
  expect(answer.durationMs).toBeLessThan(8_000); // it goes on for ever
});

test('name resolution counts towards the deadline', async () => {
  const { port } = await receiver((_, response) => response.end());
  const post = client({ ...HURRIED, resolve: () => new Promise(() => {}) });
  expect(await post(`http://slow.example:${port}/`)).toMatchObject({
    status: null,
    error: 'No complete answer within 0.4 seconds.',
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
  expect((await post(`http://late.example:${port}/`)).error).toMatch(/^No complete answer/);
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
    /^The answer was not HTTP\.$/,
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
  const tls = await certificate();
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

test('HTTP/2 is used where offered: many posts share a connection, and one that hangs delays none', async () => {
  const tls = await certificate();
  const sessions = new Set<unknown>();
  const server = createSecureServer({ ...tls, allowHTTP1: true }, async (request, response) => {
    sessions.add(request.stream.session);
    const body = await text(request as unknown as IncomingMessage);
    if (body !== 'hang') response.writeHead(200).end(`${request.httpVersion} ${body}`);
  });
  const { port } = await listen(server as unknown as Server);
  const post = client({ deadlineMs: 4_000, ca: tls.cert, resolve: () => Promise.resolve(['127.0.0.1']) });
  const url = `https://two.example:${port}/hook`;
  await post(url, 'first');
  const hanging = post(url, 'hang');
  const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => post(url, String(n))));
  expect(answers.map(({ body }) => body)).toEqual(Array.from({ length: 50 }, (_, n) => `2.0 ${n}`));
  expect((await hanging).error).toMatch(/^No complete answer/);
  expect(await post(url, 'after')).toMatchObject({ status: 200, body: '2.0 after' });
  expect(sessions.size).toBe(1);
});

/** An HTTP/2 server; `answer` gets each numbered post once its body is complete. */
async function http2Receiver(
  answer: (stream: ServerHttp2Stream, body: string, number: number) => void,
  { deadlineMs = LIMITS.deadlineMs, ...settings }: { deadlineMs?: number; maxConcurrentStreams?: number } = {},
) {
  const tls = await certificate();
  const bodies: string[] = [];
  let sessions = 0;
  let open = 0;
  const server = createSecureServer({ ...tls, settings });
  server.on('session', (session) => {
    sessions++;
    open++;
    session.on('close', () => open--);
    session.on('error', () => {});
  });
  server.on('stream', async (stream) => {
    stream.on('error', () => {});
    const body = await text(stream as unknown as IncomingMessage).catch(() => undefined);
    if (body !== undefined) answer(stream, body, bodies.push(body));
  });
  const { port } = await listen(server as unknown as Server);
  const resolve = () => Promise.resolve(['127.0.0.1']);
  const post = client({ ca: tls.cert, deadlineMs, resolve });
  const postTo = (to: number) => (body: string) => post(`https://two.example:${to}/hook`, body);
  return { bodies, port, sessions: () => sessions, open: () => open, post: postTo(port), postTo };
}

const accept = (stream: ServerHttp2Stream, body = '') => {
  stream.respond({ ':status': 200 });
  stream.end(body);
};

test('HTTP/2: when a connection fails, each post on it fails once and is not repeated', async () => {
  const { post, bodies } = await http2Receiver((stream, _, number) => {
    if (number === 1 || number > 6) accept(stream);
    else if (number === 6) stream.session?.destroy();
  });
  await post('first');
  const words = ['a', 'b', 'c', 'd', 'e'];
  const answers = await Promise.all(words.map((word) => post(word)));
  expect(answers.map(({ status, error }) => `${status}: ${error}`)).toEqual(
    Array(5).fill('null: The connection broke before the answer was complete.'),
  );
  expect(bodies.toSorted()).toEqual([...words, 'first']);
  expect(await post('after')).toMatchObject({ status: 200, error: null });
});

test('HTTP/2: a post that the receiver reports as unprocessed costs no attempt', async () => {
  let refused = 0;
  const { post, sessions } = await http2Receiver((stream, body, number) => {
    if (body !== 'first' && number <= 6) {
      refused++;
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
    } else accept(stream, body);
  });
  await post('first');
  const words = ['a', 'b', 'c', 'd', 'e'];
  const answers = await Promise.all(words.map((word) => post(word)));
  expect(answers.map(({ status, body }) => [status, body])).toEqual(words.map((word) => [200, word]));
  expect([refused, sessions()]).toEqual([5, 1]);
});

test('HTTP/2: a stream reset by the receiver fails alone and is not retried', async () => {
  const { post, bodies, sessions } = await http2Receiver((stream, body) => {
    if (body === 'bad') stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    else setTimeout(() => accept(stream, body), 50);
  });
  await post('first');
  const [good, bad, other] = await Promise.all([post('good'), post('bad'), post('other')]);
  expect(bad).toMatchObject({ status: null, error: 'The receiver broke off before the answer was complete.' });
  expect([good.body, other.body]).toEqual(['good', 'other']);
  expect(bodies.toSorted()).toEqual(['bad', 'first', 'good', 'other']);
  expect(sessions()).toBe(1);
});

test('HTTP/2: only 4 KB of huge bodies are kept, and the connection survives', async () => {
  let sent = 0;
  const chunk = Buffer.alloc(65_536, 'x');
  const { post, sessions } = await http2Receiver((stream, body) => {
    if (body !== 'giant') return accept(stream, body);
    stream.respond({ ':status': 200 });
    const pump = () => {
      while (!stream.destroyed && sent < 1e9) {
        sent += chunk.length;
        if (!stream.write(chunk)) return void stream.once('drain', pump);
      }
    };
    pump();
  });
  await post('first');
  const answers = await Promise.all(Array.from({ length: 20 }, () => post('giant')));
  expect(new Set(answers.map(({ body, error }) => `${error} ${body}`))).toEqual(
    new Set([`null ${'x'.repeat(LIMITS.responseBytes)}`]),
  );
  expect(sent).toBeLessThan(100e6);
  expect(await post('after')).toMatchObject({ status: 200, error: null, body: 'after' });
  expect(sessions()).toBe(1);
});

test('HTTP/2: a 2xx acknowledges even if its body is slow or fails, also after an interim response', async () => {
  const { post, bodies, sessions } = await http2Receiver((stream, body) => {
    stream.additionalHeaders({ ':status': 103, link: '</a>' });
    stream.respond({ ':status': 200 });
    stream.write('12');
    if (body === 'drips') stream.on('close', () => clearInterval(drip));
    const drip = setInterval(() => (body === 'drips' ? stream.write('x') : undefined), 20);
    if (body !== 'drips') clearInterval(drip);
    if (body === 'breaks') setTimeout(() => stream.close(constants.NGHTTP2_INTERNAL_ERROR), 50);
    if (body === 'ends') stream.end();
  });
  for (const body of ['ends', 'drips', 'breaks', 'hangs', 'ends']) {
    const answer = await post(body);
    expect(answer).toMatchObject({ status: 200, error: null, body: expect.stringMatching(/^12/) });
    expect(answer.durationMs).toBeLessThan(LIMITS.deadlineMs / 2);
  }
  expect([bodies.length, sessions()]).toEqual([5, 1]);
});

test('HTTP/2: a slow error response is cut off and delays no other, even with one stream per connection', async () => {
  const { post } = await http2Receiver(
    (stream, body) => {
      if (body !== 'drips') return accept(stream, body);
      stream.respond({ ':status': 500 });
      const drip = setInterval(() => stream.write('x'), 20);
      stream.on('close', () => clearInterval(drip));
    },
    { deadlineMs: 2_000, maxConcurrentStreams: 1 },
  );
  await post('first');
  const [dripping, other] = await Promise.all([post('drips'), post('other')]);
  expect(dripping).toMatchObject({ status: 500, error: 'No complete answer within 2 seconds.' });
  expect(other).toMatchObject({ status: 200, error: null, body: 'other' });
});

test('HTTP/2: a connection that accepts no stream fails at the deadline and is closed', async () => {
  const { post, bodies, sessions, open } = await http2Receiver(() => {}, {
    deadlineMs: 2_000,
    maxConcurrentStreams: 0,
  });
  await post('first'); // goes out before the receiver has said so, and is refused
  expect(await post('second')).toMatchObject({ status: null, error: 'No complete answer within 2 seconds.' });
  expect(sessions()).toBeGreaterThan(0);
  await vi.waitUntil(() => open() === 0, 10_000);
  expect(bodies).toEqual([]);
});

test('HTTP/2: a dead connection that does not answer pings is replaced', async () => {
  const answer = (stream: ServerHttp2Stream, body: string) => {
    if (body !== 'hangs') accept(stream, body);
  };
  const { port, postTo, sessions } = await http2Receiver(answer, { deadlineMs: 2_000 });
  // A firewall in between that has forgotten the first connection: it silently drops its packets.
  let forgets = false;
  let connections = 0;
  const between = await listen(
    createTcpServer((near) => {
      const isFirst = ++connections === 1;
      const far = connect(port, '127.0.0.1');
      const pass = (from: Socket, to: Socket) => {
        from.on('error', () => {});
        from.on('data', (data) => void ((forgets && isFirst) || to.write(data)));
        from.on('close', () => void ((forgets && isFirst) || to.destroy()));
      };
      pass(near, far);
      pass(far, near);
    }),
  );
  const post = postTo(between.port);
  await post('first');
  expect((await post('hangs')).error).toMatch(/^No complete answer/);
  expect(await post('lives')).toMatchObject({ status: 200, body: 'lives' });
  expect(sessions()).toBe(1);
  forgets = true;
  expect((await post('lost')).error).toMatch(/^No complete answer/);
  expect(await post('found')).toMatchObject({ status: 200, body: 'found' });
  expect(sessions()).toBe(2);
});

test('an untrusted certificate is a failure', async () => {
  const tls = await certificate();
  const { port } = await listen(createHttpsServer(tls, (_, response) => response.end()));
  const answer = await client({ resolve: () => Promise.resolve(['127.0.0.1']) })(`https://two.example:${port}/`);
  expect(answer).toMatchObject({ status: null, error: expect.stringMatching(/certificate/i) });
});

let made: { key: string; cert: string } | undefined;
beforeAll(() => {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-tls-'));
  const at = (name: string) => join(folder, name);
  const names = 'subjectAltName=DNS:two.example,DNS:rebinds.example';
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '1',
      '-subj',
      '/CN=two.example',
      '-addext',
      names,
      '-keyout',
      at('key'),
      '-out',
      at('cert'),
    ],
    { stdio: 'ignore' },
  );
  made = { key: readFileSync(at('key'), 'utf8'), cert: readFileSync(at('cert'), 'utf8') };
  rmSync(folder, { recursive: true });
});

/** A key and self-signed certificate for this run. */
async function certificate(): Promise<{ key: string; cert: string }> {
  if (made === undefined) throw new Error('no certificate was made');
  return made;
}
