import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { serveFile, type StaticFile, staticFile } from '../static.ts';
import { eventFiles } from './event-schemas.ts';

/** Scripts and styles come only from this server, and the page connects to nothing else. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = { 'Content-Security-Policy': POLICY, 'Referrer-Policy': 'no-referrer' };

const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

/** The files of the API reference: Swagger UI from its package, and our own page. */
const FILES: Record<string, { type: string; at: string }> = {
  '/docs': { type: HTML, at: './page/index.html' },
  '/docs/page.css': { type: CSS, at: './page/page.css' },
  '/docs/page.js': { type: SCRIPT, at: './page/page.js' },
  '/docs/swagger-ui.css': { type: CSS, at: 'swagger-ui-dist/swagger-ui.css' },
  '/docs/swagger-ui.js': { type: SCRIPT, at: 'swagger-ui-dist/swagger-ui-bundle.js' },
};

/** Caches files that were read, and paths that do not exist. */
const read = eventFiles();

/** Serves the API reference at `/docs` and the event schemas below it; returns false for any other path. */
export function serveDocs(request: IncomingMessage, response: ServerResponse, path: string): boolean {
  const name = path === '/docs/' ? '/docs' : path;
  const file = read.get(name) ?? readOnce(name);
  if (file === undefined) return false;
  serveFile(request, response, file, HEADERS);
  return true;
}

function readOnce(name: string): StaticFile | undefined {
  const known = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
  if (known === undefined) return undefined;
  const file = staticFile(known.type, readFileSync(new URL(import.meta.resolve(known.at))));
  read.set(name, file);
  return file;
}
