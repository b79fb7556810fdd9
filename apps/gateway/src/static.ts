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

/** A text to be served as it is: compressed once, and named by its content so that browsers ask for it once. */
export function staticFile(type: string, text: string | Buffer): StaticFile {
  const body = Buffer.from(text);
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  return { type, body, zipped: gzipSync(body), etag };
}

/** Answers GET and HEAD with the file, or 304 to those who have it. */
export function answerFile(
  request: IncomingMessage,
  response: ServerResponse,
  file: StaticFile,
  headers: Record<string, string> = {},
): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    return answerError(response, new DomainError('method_not_allowed', 'This is read with GET.'));
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
