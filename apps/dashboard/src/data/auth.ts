import { countOf } from '../components/numbers.ts';
import { NOT_RESPONDING, RESPONSE_TIMEOUT_MS } from './problem.ts';

/** A sign-in endpoint's response. Error messages are user-facing. */
export type AuthResult = { data: Record<string, unknown>; problem?: undefined } | { data?: undefined; problem: string };

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
    return { problem: refusalOf(response, data) };
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

function refusalOf({ status, headers }: Response, { message }: Record<string, unknown>): string {
  if (status === 429) {
    const seconds = Number(headers.get('x-retry-after') ?? 60);
    return `Too many attempts. Wait ${seconds < 90 ? countOf(seconds, 'second') : countOf(Math.ceil(seconds / 60), 'minute')}, then try again.`;
  }
  if (typeof message !== 'string') return 'Something went wrong. Try again.';
  return message.endsWith('.') ? message : `${message}.`;
}
