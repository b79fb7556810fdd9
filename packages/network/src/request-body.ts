import type { IncomingMessage } from 'node:http';
import { DomainError } from '@postroom/errors';

/** Time limit for receiving a body, in milliseconds. */
const TIMEOUT_MS = 60_000;

/** The client disconnected before it had sent the whole request, so no response is needed. */
export class ClientGone extends Error {}

/**
 * Reads a request's body into memory, at most `maxBytes`. Every server that needs a body uses it. The rest of a
 * longer or slower one is not read: `createHttpServer` closes the connection soon after the response.
 * @throws DomainError `payload_too_large` as soon as the limit is exceeded, `timeout` when it takes too long; `ClientGone`
 * when the client disconnects early.
 */
export function readBody(request: IncomingMessage, maxBytes: number, { timeoutMs = TIMEOUT_MS } = {}): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const refuse = (error: DomainError) => {
      clearTimeout(timer);
      request.removeAllListeners('data').pause();
      chunks.length = 0;
      reject(error);
    };
    const refuseLarge = () =>
      refuse(new DomainError('payload_too_large', `The body may have at most ${maxBytes} bytes.`));
    const timer = setTimeout(() => refuse(new DomainError('timeout', 'The body did not arrive in time.')), timeoutMs);
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return refuseLarge();
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBytes) return refuseLarge();
      chunks.push(chunk);
    });
    request.once('end', () => {
      clearTimeout(timer);
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length));
    });
    request.once('error', () => {
      clearTimeout(timer);
      reject(new ClientGone());
    });
  });
}
