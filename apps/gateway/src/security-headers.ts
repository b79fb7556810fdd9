import type { ServerResponse } from 'node:http';
import { config } from '@postroom/platform';

/** Default headers of every response; pages that load resources override the policy. */
const HEADERS: Record<string, string> = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

const HSTS = 'max-age=31536000';

export function setSecurityHeaders(response: ServerResponse): void {
  for (const name in HEADERS) response.setHeader(name, HEADERS[name] as string);
  if (config.PUBLIC_URL.startsWith('https:')) response.setHeader('Strict-Transport-Security', HSTS);
}

/** For GraphiQL, which development serves at `/graphql`: it loads code from unpkg and has inline scripts. */
export const GRAPHIQL_POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline' 'unsafe-eval' blob: https://unpkg.com",
  "style-src 'unsafe-inline' https://unpkg.com",
  'img-src data: https://raw.githubusercontent.com',
  'font-src data: https://unpkg.com',
  "connect-src 'self' https://unpkg.com",
  'worker-src blob: https://unpkg.com',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
