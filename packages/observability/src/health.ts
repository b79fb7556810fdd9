import { isDraining } from './lifecycle.ts';

/** Something that a program needs to do its work. */
export interface HealthCheck {
  /** As in the answer of `/readyz`: `database`, `pollers`. */
  name: string;
  /** Rejects with an error whose message says what is wrong. */
  check: () => Promise<unknown>;
  /** How long a result is reused, in milliseconds; 1,000 by default. Probes must not burden what they look at. */
  cacheMs?: number;
}

export interface Readiness {
  ready: boolean;
  /** `ok` or what is wrong, by check. */
  checks: Record<string, string>;
}

/** A check that takes longer than this has failed, in milliseconds. Probes time out after a few seconds. */
const TIMEOUT_MS = 2_500;
const CACHE_MS = 1_000;

/** Returns a function that runs the checks together, and reuses their recent results. A draining process is not ready. */
export function createReadiness(checks: readonly HealthCheck[]): () => Promise<Readiness> {
  const cached = checks.map(cache);
  return async () => {
    const results = await Promise.all(cached.map((check) => check()));
    const problems = results.map((problem, index) => [checks[index]?.name ?? '', problem ?? 'ok'] as const);
    return {
      ready: !isDraining() && results.every((problem) => problem === undefined),
      checks: { ...(isDraining() ? { lifecycle: 'draining' } : {}), ...Object.fromEntries(problems) },
    };
  };
}

/** The latest problem that a check found, read again once it is too old; undefined if there is none. */
function cache({ name, check, cacheMs = CACHE_MS }: HealthCheck): () => Promise<string | undefined> {
  let readAt = -Infinity;
  let reading: Promise<string | undefined> = Promise.resolve(undefined);
  return () => {
    if (performance.now() - readAt < cacheMs) return reading;
    readAt = performance.now();
    reading = withDeadline(check(), name).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    return reading;
  };
}

async function withDeadline(work: Promise<unknown>, name: string): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${name}: no answer within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
