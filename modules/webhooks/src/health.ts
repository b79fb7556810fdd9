import { databaseNow, logger, pool } from '@postroom/platform';
import type { AttemptResult } from './make-attempt.ts';
import { disableAutomatically } from './endpoints.ts';
import { POLICY } from './policy.ts';

/** What a series of attempts reveals about one endpoint. */
interface Observed {
  endpointId: string;
  acknowledged: boolean;
  /** Deliveries whose first attempt failed after the last acknowledgement of the series. */
  failures: number;
  /** The first failure after the last acknowledgement. */
  failingSince: Date | null;
}

interface Health {
  id: string;
  failures_in_row: number;
  failing_since: Date | null;
}

/**
 * Updates each endpoint's count of consecutive failures. Endpoints that were and stay healthy need no statement. Must
 * run before the attempts are recorded: the dispatcher takes attempts that finish without a failure as a sign of
 * health, and would send hundreds to an endpoint that hangs.
 * @returns a function that disables the endpoints that keep failing, to call once the attempts are recorded.
 */
export async function recordHealth(attempts: readonly AttemptResult[]): Promise<() => Promise<void>> {
  const observed = observe(attempts);
  if (observed.length === 0) return async () => {};
  const { rows } = await pool.query<Health>(
    `WITH locked AS (
       -- Always locked in id order, so that concurrent batches cannot deadlock.
       SELECT id FROM webhook_endpoints WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE
     )
     UPDATE webhook_endpoints w SET
       failures_in_row = CASE WHEN o.acknowledged THEN 0 ELSE w.failures_in_row END + o.failures,
       failing_since = CASE WHEN o.acknowledged THEN o.failing_since ELSE coalesce(w.failing_since, o.failing_since) END
     FROM unnest($1::text[], $2::bool[], $3::int[], $4::timestamptz[]) AS o(id, acknowledged, failures, failing_since)
     WHERE w.id = o.id AND w.id IN (SELECT id FROM locked)
     RETURNING w.id, w.failures_in_row, w.failing_since`,
    [
      observed.map(({ endpointId }) => endpointId),
      observed.map(({ acknowledged }) => acknowledged),
      observed.map(({ failures }) => failures),
      observed.map(({ failingSince }) => failingSince),
    ],
  );
  return async () => {
    for (const health of rows) await disableIfFailing(health);
  };
}

function observe(attempts: readonly AttemptResult[]): Observed[] {
  const byEndpoint = new Map<string, Observed>();
  for (const { delivery, number, startedAt, acknowledged } of attempts) {
    const { endpoint_id: endpointId, failing } = delivery;
    const previous = byEndpoint.get(endpointId);
    if (acknowledged) {
      if (previous !== undefined || failing)
        byEndpoint.set(endpointId, { endpointId, acknowledged: true, failures: 0, failingSince: null });
      continue;
    }
    const before = previous ?? { endpointId, acknowledged: false, failures: 0, failingSince: null };
    byEndpoint.set(endpointId, {
      ...before,
      failures: before.failures + (number === 1 ? 1 : 0),
      failingSince: before.failingSince ?? startedAt,
    });
  }
  return [...byEndpoint.values()];
}

async function disableIfFailing(health: Health): Promise<void> {
  const reason = disableReason(health, databaseNow());
  if (reason === undefined || !(await disableAutomatically(health.id, reason))) return;
  logger.warn({ endpointId: health.id, reason }, 'webhook endpoint disabled');
}

/** Why an endpoint should be disabled, as text for its owner; `undefined` if it should not. */
export function disableReason(
  { failures_in_row: failures, failing_since: since }: Omit<Health, 'id'>,
  now: number,
): string | undefined {
  if (since === null) return undefined;
  const failingMs = now - since.getTime();
  if (failingMs >= POLICY.endpoint.disableAfterMs) return 'No attempt has been acknowledged for 3 days.';
  if (failures >= POLICY.endpoint.disableAfterFailures && failingMs >= POLICY.endpoint.disableAfterFailuresMs) {
    return `${failures} deliveries in a row were not acknowledged, over more than an hour.`;
  }
  return undefined;
}
