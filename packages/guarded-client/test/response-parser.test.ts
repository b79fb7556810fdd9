import { expect, test } from 'vitest';
import { HeadersTooLargeError, NotHttpError, ResponseParser } from '../src/response-parser.ts';

interface Parsed {
  status?: number;
  retryAfter?: string;
  body: string;
  isComplete: boolean;
  isPersistent: boolean;
  idleMs: number | undefined;
  /** Bytes after the response. */
  surplus: number;
  error?: string;
}

/** Parses a response that arrives in parts of `size` bytes; `isClosed` if the connection ends after it. */
function parse(text: string, { size = text.length, isClosed = false, maxHeadBytes = 1_000 } = {}): Parsed {
  const found: Pick<Parsed, 'status' | 'retryAfter' | 'body'> = { body: '' };
  const parser = new ResponseParser(
    {
      onStatus: (status) => (found.status = status),
      onRetryAfter: (value) => (found.retryAfter = value),
      onBody: (part) => (found.body += part.toString('latin1')),
    },
    maxHeadBytes,
  );
  const bytes = Buffer.from(text, 'latin1');
  let read = 0;
  let error: string | undefined;
  try {
    for (let at = 0; at < bytes.length && !parser.isComplete; at += size)
      read = at + parser.push(bytes.subarray(at, at + size));
    if (isClosed) parser.end();
  } catch (thrown) {
    error = (thrown as Error).constructor.name;
  }
  const { isComplete, isPersistent, idleMs } = parser;
  return { ...found, isComplete, isPersistent, idleMs, surplus: bytes.length - read, ...(error && { error }) };
}

const HEAD = 'HTTP/1.1 200 OK\r\n';
const OK = { status: 200, body: '', isComplete: true, isPersistent: true, idleMs: undefined, surplus: 0 };

test.each<[string, string, Partial<Parsed>]>([
  ['a length', `${HEAD}Content-Length: 5\r\n\r\nhello`, { body: 'hello' }],
  ['a length of 0', `${HEAD}Content-Length: 0\r\n\r\n`, {}],
  ['the same length twice', `${HEAD}Content-Length: 2\r\nContent-Length: 2, 2\r\n\r\nhi`, { body: 'hi' }],
  ['no content', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204 }],
  ['no content, whatever length it states', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n', { status: 304 }],
  ['no reason', 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n', {}],
  ['line feeds alone', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nhi', { body: 'hi' }],
  ['an empty line before it', `\r\n${HEAD}Content-Length: 0\r\n\r\n`, {}],
  [
    'chunks',
    `${HEAD}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x="1"\r\n0123456789\r\n0\r\n\r\n`,
    { body: 'abc0123456789' },
  ],
  [
    'chunks and trailers',
    `${HEAD}transfer-encoding: gzip, Chunked\r\n\r\n1\r\na\r\n0\r\nX-T: 1\r\n\r\n`,
    { body: 'a' },
  ],
  [
    'interim responses',
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n${HEAD}Content-Length: 1\r\n\r\na`,
    { body: 'a' },
  ],
  ['a continued header', `${HEAD}X-A: 1\r\n\tmore\r\nContent-Length: 1\r\n\r\na`, { body: 'a' }],
  ['letters beyond ASCII', `${HEAD}X-A: Zo\u00eb\r\nX-Empty:\r\nContent-Length: 0\r\n\r\n`, {}],
  [
    'when to retry',
    'HTTP/1.1 429 Slow\r\nRetry-After:  7 \r\nContent-Length: 0\r\n\r\n',
    { status: 429, retryAfter: '7' },
  ],
  ['that it closes', `${HEAD}Content-Length: 0\r\nConnection: x, Close\r\n\r\n`, { isPersistent: false }],
  ['how long it stays', `${HEAD}Content-Length: 0\r\nKeep-Alive: max=3, timeout=5\r\n\r\n`, { idleMs: 5_000 }],
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n', { isPersistent: false }],
  ['HTTP/1.0 that stays', 'HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n', {}],
  [
    'a length and chunks',
    `${HEAD}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`,
    { body: 'a', isPersistent: false },
  ],
])('a response with %s is read, however it is cut', (_, text, expected) => {
  for (const size of [text.length, 1, 2, 3, 7, 16]) expect(parse(text, { size })).toEqual({ ...OK, ...expected });
});

test('a response without a length ends with its connection, which is not used again', () => {
  const text = `${HEAD}Transfer-Encoding: gzip\r\n\r\nall of it`;
  const expected = { ...OK, body: 'all of it', isPersistent: false };
  expect(parse(text)).toEqual({ ...expected, isComplete: false });
  expect(parse(text, { isClosed: true })).toEqual(expected);
  expect(parse(`${HEAD}\r\nall of it`, { isClosed: true })).toEqual(expected);
});

test('a response that is cut off is not complete', () => {
  const whole = `${HEAD}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`;
  for (let length = 0; length < whole.length; length++)
    expect(parse(whole.slice(0, length), { isClosed: true }).isComplete).toBe(false);
  expect(parse(`${HEAD}Content-Length: 3\r\n\r\nab`, { isClosed: true }).isComplete).toBe(false);
});

test('bytes after a response do not belong to it', () => {
  expect(parse(`${HEAD}Content-Length: 2\r\n\r\nhi${HEAD}`)).toMatchObject({ body: 'hi', surplus: HEAD.length });
  expect(parse('HTTP/1.1 204 No Content\r\n\r\nhi')).toMatchObject({ body: '', surplus: 2 });
});

test('the status is known before its line ends', () => {
  expect(parse('HTTP/1.1 202 ')).toMatchObject({ status: 202, isComplete: false });
  expect(parse('HTTP/1.1 202').status).toBeUndefined();
  expect(parse('HTTP/1.1 102 ').status).toBeUndefined();
});

test.each([
  ['another protocol', '220 mail.example.com ESMTP\r\n'],
  ['another protocol in one long line', 'x'.repeat(900)],
  ['another version', 'HTTP/2.0 200 OK\r\n\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ['a status below 100', 'HTTP/1.1 099 Low\r\n\r\n'],
  ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
  ['a header without a colon', `${HEAD}X-A\r\n\r\n`],
  ['a header with a space in its name', `${HEAD}Content-Length : 3\r\n\r\nabc`],
  ['a header with a carriage return', `${HEAD}X-A: a\rb\r\n\r\n`],
  ['a negative length', `${HEAD}Content-Length: -1\r\n\r\n`],
  ['two lengths', `${HEAD}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`],
  ['a length that no response has', `${HEAD}Content-Length: 99999999999999999999\r\n\r\n`],
  ['a chunk without a size', `${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
  ['a chunk of negative size', `${HEAD}Transfer-Encoding: chunked\r\n\r\n-1\r\n`],
  ['a chunk longer than its size', `${HEAD}Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n`],
])('%s is not HTTP', (_, text) => {
  for (const size of [text.length, 1, 5]) expect(parse(text, { size }).error).toBe(NotHttpError.name);
});

test('status lines and headers are limited together, a body of many chunks is not', () => {
  const long = 'X-A: b\r\n'.repeat(200);
  for (const text of [
    `${HEAD}${long}\r\n`,
    `${HEAD}X-A: ${'b'.repeat(2_000)}`,
    'HTTP/1.1 100 Continue\r\n\r\n'.repeat(99),
  ])
    for (const size of [text.length, 1, 100]) expect(parse(text, { size }).error).toBe(HeadersTooLargeError.name);
  const chunked = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;
  expect(parse(`${chunked}${'1\r\na\r\n'.repeat(900)}0\r\n\r\n`)).toEqual({ ...OK, body: 'a'.repeat(900) });
  expect(parse(`${chunked}1;${'x'.repeat(2_000)}`).error).toBe(HeadersTooLargeError.name);
  expect(parse(`${chunked}0\r\n${long}`).error).toBe(HeadersTooLargeError.name);
});
