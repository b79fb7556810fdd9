import { type IncomingMessage } from 'node:http';
import { constants, createSecureServer, type ServerHttp2Stream } from 'node:http2';
import { connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { certificate, client, closeAll, LIMITS, listen, text } from './receivers.ts';

afterEach(closeAll);

test('HTTP/2 is used where offered: many posts share a connection, and one that hangs delays none', async () => {
  const tls = certificate();
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
  expect((await hanging).error).toMatch(/^No complete response/);
  expect(await post(url, 'after')).toMatchObject({ status: 200, body: '2.0 after' });
  expect(sessions.size).toBe(1);
});

/** An HTTP/2 server; `answer` gets each numbered post once its body is complete. */
async function http2Receiver(
  answer: (stream: ServerHttp2Stream, body: string, number: number) => void,
  { deadlineMs = LIMITS.deadlineMs, ...settings }: { deadlineMs?: number; maxConcurrentStreams?: number } = {},
) {
  const tls = certificate();
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
    Array(5).fill('null: The connection broke before the response was complete.'),
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
  expect(bad).toMatchObject({
    status: null,
    error: 'The receiver reset the request before the response was complete.',
  });
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
  expect(dripping).toMatchObject({ status: 500, error: 'No complete response within 2 seconds.' });
  expect(other).toMatchObject({ status: 200, error: null, body: 'other' });
});

test('HTTP/2: a connection that accepts no stream fails at the deadline and is closed', async () => {
  const { post, bodies, sessions, open } = await http2Receiver(() => {}, {
    deadlineMs: 2_000,
    maxConcurrentStreams: 0,
  });
  await post('first'); // goes out before the receiver has said so, and is refused
  expect(await post('second')).toMatchObject({ status: null, error: 'No complete response within 2 seconds.' });
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
  expect((await post('hangs')).error).toMatch(/^No complete response/);
  expect(await post('lives')).toMatchObject({ status: 200, body: 'lives' });
  expect(sessions()).toBe(1);
  forgets = true;
  expect((await post('lost')).error).toMatch(/^No complete response/);
  expect(await post('found')).toMatchObject({ status: 200, body: 'found' });
  expect(sessions()).toBe(2);
});
