import type { IncomingMessage } from 'node:http';
import { DomainError } from '@postroom/errors';
import { ChunkList } from './chunk-list.ts';

/** Time limit for receiving a body, in milliseconds. */
const TIMEOUT_MS = 60_000;

/** The client disconnected before it had sent the whole request, so no response is needed. */
export class ClientGone extends Error {}

/**
 * Reads a request's body into memory, at most `maxBytes`. Every server that needs a body uses it. The rest of a
 * longer or slower one is not read: `createHttpServer` closes the connection soon after the response.
 * @throws DomainError `payload_too_large` as soon as the limit is exceeded, `timeout` when it takes too long,
 * `unsupported_media_type` for a compressed body; `ClientGone` when the client disconnects early.
 */
export function readBody(request: IncomingMessage, maxBytes: number, { timeoutMs = TIMEOUT_MS } = {}): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks = new ChunkList();
    const refuse = (error: DomainError) => {
      clearTimeout(timer);
      request.removeAllListeners('data').pause();
      chunks.clear();
      reject(error);
    };
    const refuseLarge = () =>
      refuse(new DomainError('payload_too_large', `The body may have at most ${maxBytes} bytes.`));
    const timer = setTimeout(() => refuse(new DomainError('timeout', 'The body did not arrive in time.')), timeoutMs);
    const compressed = compressionProblem(request);
    if (compressed !== undefined) return refuse(compressed);
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return refuseLarge();
    request.on('data', (chunk: Buffer) => {
      if (chunks.length + chunk.length > maxBytes) return refuseLarge();
      chunks.push(chunk);
    });
    request.once('end', () => {
      clearTimeout(timer);
      resolve(chunks.concat());
    });
    request.once('error', () => {
      clearTimeout(timer);
      reject(new ClientGone());
    });
  });
}

/** The error of a request with a compressed body. Nothing decompresses one: a few kilobytes could become gigabytes. */
export function compressionProblem({ headers }: Pick<IncomingMessage, 'headers'>): DomainError | undefined {
  if ((headers['content-encoding'] ?? 'identity').trim().toLowerCase() === 'identity') return undefined;
  return new DomainError('unsupported_media_type', 'Send the body without compression.');
}

/**
 * Maximum number of values in a JSON body: elements of lists and members of objects; an empty list or object counts
 * twice. Parsing and checking millions of small values would hold up all requests for seconds.
 */
export const MAX_JSON_VALUES = 300_000;

/** The media type of a `Content-Type`, in lower case and without parameters; empty if there is none. */
export const mediaTypeOf = (contentType = ''): string => (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a request's JSON body. Every server that takes JSON uses it.
 * @throws DomainError `payload_too_large` with too many values, `validation_error` for invalid UTF-8 or JSON.
 */
export function parseJsonBody(bytes: Buffer): unknown {
  if (hasTooManyValues(bytes))
    throw new DomainError('payload_too_large', `The body may have at most ${MAX_JSON_VALUES} values.`);
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new DomainError('validation_error', 'The body is not valid UTF-8.');
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new DomainError('validation_error', `The body is not valid JSON: ${(error as Error).message}`);
  }
}

const [QUOTE, BACKSLASH, COMMA, LIST, OBJECT] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];

/** Counts what precedes each value: a comma, or the bracket of its list or object. Reads no further than it must. */
function hasTooManyValues(bytes: Buffer): boolean {
  if (bytes.length <= MAX_JSON_VALUES) return false;
  let values = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (inString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if ((byte === COMMA || byte === LIST || byte === OBJECT) && ++values > MAX_JSON_VALUES) return true;
  }
  return false;
}
