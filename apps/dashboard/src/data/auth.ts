import { countOf } from '../components/numbers.ts';
import { NOT_RESPONDING, RESPONSE_TIMEOUT_MS } from './problem.ts';

/** A sign-in endpoint's response. Error messages are user-facing; the code is the server's. */
export type AuthResult =
  | { data: Record<string, unknown>; problem?: undefined }
  | { data?: undefined; problem: string; code?: unknown };

/** Messages by error code, where the sign-in library's own does not say what to do. */
export const MESSAGES = {
  ACCOUNT_TEMPORARILY_LOCKED:
    'Too many wrong codes. Your second factor is locked for up to 15 minutes; then try again.',
  INVALID_TOKEN: 'This link has expired or was already used. Request a new one.',
  INVALID_TWO_FACTOR_COOKIE: 'This sign-in took too long. Sign in again.',
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: 'Too many wrong codes. Sign in again.',
} as const satisfies Record<string, string>;

/** Posts to the sign-in endpoints, which are plain HTTP. Gives up on a server that does not respond. */
export async function postAuth(path: string, body: unknown = {}): Promise<AuthResult> {
  try {
    const response = await fetch(`/app/auth${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
    });
    const data = (await response.json().catch(() => ({}))) as Record<string, unknown>;
    if (response.ok) return { data };
    return { problem: refusalOf(response, data), code: data.code };
  } catch (error) {
    if (error instanceof DOMException && error.name === 'TimeoutError') return { problem: NOT_RESPONDING.message };
    return { problem: "Can't reach the server. Check your connection and try again." };
  }
}

/** The name of the single sign-on provider; null if none is configured. */
export async function providerName(): Promise<string | null> {
  try {
    const response = await fetch('/app/auth/methods');
    const { oidc } = (await response.json()) as { oidc: { name: string } | null };
    return oidc?.name ?? null;
  } catch {
    return null;
  }
}

function refusalOf({ status, headers }: Response, { code, message }: Record<string, unknown>): string {
  const known = (MESSAGES as Record<string, string | undefined>)[String(code)];
  if (known !== undefined) return known;
  if (status === 429) {
    const seconds = Number(headers.get('x-retry-after') ?? 60);
    return `Too many attempts. Wait ${seconds < 90 ? countOf(seconds, 'second') : countOf(Math.ceil(seconds / 60), 'minute')}, then try again.`;
  }
  if (typeof message !== 'string') return 'Something went wrong. Try again.';
  // An invalid field comes with its path: "[body.email] Invalid email address".
  const text = message.replace(/^\[body\.\w+\] /, '');
  return text.endsWith('.') ? text : `${text}.`;
}
