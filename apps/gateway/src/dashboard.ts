import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { serveFile, type StaticFile, staticFile } from './static.ts';

const DIST = join(import.meta.dirname, '../../dashboard/dist');

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
};

/** Dashboard paths, handled by the browser's router. */
const PAGE = /^\/(|projects|sign-in|reset-password|invitation|p\/.*)$/;

/**
 * Serves the built dashboard; returns false for other paths, and for all paths if the dashboard has not been built.
 * Each page gets its own nonce for styles that components create; scripts are loaded only from files.
 */
export function createDashboard() {
  const index = existsSync(join(DIST, 'index.html')) ? readFileSync(join(DIST, 'index.html'), 'utf8') : undefined;
  const files = index === undefined ? new Map<string, StaticFile>() : readFiles();
  return function answer(request: IncomingMessage, response: ServerResponse, path: string): boolean {
    if (index === undefined) return false;
    const file = files.get(path);
    if (file !== undefined) {
      // Vite puts a content hash in asset names, so they are immutable.
      const forever = path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
      serveFile(request, response, file, { 'Cache-Control': forever });
      return true;
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') return false;
    const isPage = PAGE.test(path);
    // Elsewhere a browser gets the page that says so; programs get JSON.
    if (!isPage && !/\btext\/html\b/.test(request.headers.accept ?? '')) return false;
    answerPage(response, index, isPage ? 200 : 404);
    return true;
  };
}

function answerPage(response: ServerResponse, index: string, status: number): void {
  const nonce = randomBytes(16).toString('base64');
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': contentSecurityPolicy(nonce),
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  });
  response.end(index.replaceAll('__NONCE__', nonce));
}

function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "style-src-attr 'none'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function readFiles(): Map<string, StaticFile> {
  const paths = (readdirSync(DIST, { recursive: true }) as string[]).filter(
    (path) => statSync(join(DIST, path)).isFile() && path !== 'index.html' && !path.endsWith('.br'),
  );
  /** The build compresses files with Brotli (scripts/dashboard.mjs). */
  const brotliOf = (path: string) =>
    existsSync(join(DIST, `${path}.br`)) ? readFileSync(join(DIST, `${path}.br`)) : undefined;
  return new Map(
    paths.map((path) => [
      `/${path.replaceAll('\\', '/')}`,
      staticFile(TYPES[extname(path)] ?? 'application/octet-stream', readFileSync(join(DIST, path)), brotliOf(path)),
    ]),
  );
}
