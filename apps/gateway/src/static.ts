import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { answerError } from './rest/http.ts';
import { DomainError } from '@postroom/platform';

export interface StaticFile {
  type: string;
  body: Buffer;
  /** The same in gzip. */
  zipped: () => Buffer;
  /** The same in Brotli, if it was compressed beforehand: well compressed, it takes too long to start with. */
  brotli?: Buffer | undefined;
  etag: string;
}

/**
 * Prepares a static file, with a content-based ETag. It is zipped once, for the first client that asks for gzip: the whole
 * dashboard takes a tenth of a second, which no start should wait for. `brotli` is the same file in Brotli.
 */
export function staticFile(type: string, text: string | Buffer, brotli?: Buffer): StaticFile {
  const body = Buffer.from(text);
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  let zipped: Buffer | undefined;
  return { type, body, zipped: () => (zipped ??= gzipSync(body)), brotli, etag };
}

/** Responds to GET and HEAD with the file, or 304 if the client has it. */
export function serveFile(
  request: IncomingMessage,
  response: ServerResponse,
  file: StaticFile,
  headers: Record<string, string>,
): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    return answerError(response, new DomainError('method_not_allowed', 'Use GET.'));
  }
  const shared = {
    ETag: file.etag,
    'Cache-Control': 'no-cache',
    Vary: 'Accept-Encoding',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  };
  if (request.headers['if-none-match'] === file.etag) return void response.writeHead(304, shared).end();
  const [encoding, body] = smallestEncoding(file, request.headers['accept-encoding'] ?? '');
  response.writeHead(200, {
    ...shared,
    'Content-Type': file.type,
    'Content-Length': body.length,
    ...(encoding === undefined ? {} : { 'Content-Encoding': encoding }),
  });
  response.end(body);
}

/** The smallest form of the file that the client accepts. */
function smallestEncoding(
  { body, zipped, brotli }: StaticFile,
  accepted: string,
): [encoding: string | undefined, body: Buffer] {
  if (brotli !== undefined && /\bbr\b/.test(accepted)) return ['br', brotli];
  // Fonts and pictures are compressed already.
  if (/\bgzip\b/.test(accepted) && zipped().length < body.length) return ['gzip', zipped()];
  return [undefined, body];
}
