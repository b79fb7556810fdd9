import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { answerError } from './rest/http.ts';
import { DomainError } from '@postroom/platform';

export interface StaticFile {
  type: string;
  body: Buffer;
  zipped: Buffer;
  etag: string;
}

/** Prepares a static file: compressed once, with a content-based ETag. */
export function staticFile(type: string, text: string | Buffer): StaticFile {
  const body = Buffer.from(text);
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  return { type, body, zipped: gzipSync(body), etag };
}

/** Responds to GET and HEAD with the file, or 304 if the client has it. */
export function serveFile(
  request: IncomingMessage,
  response: ServerResponse,
  file: StaticFile,
  headers: Record<string, string> = {},
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
  const zipped = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  const body = zipped ? file.zipped : file.body;
  response.writeHead(200, {
    ...shared,
    'Content-Type': file.type,
    'Content-Length': body.length,
    ...(zipped ? { 'Content-Encoding': 'gzip' } : {}),
  });
  response.end(body);
}
