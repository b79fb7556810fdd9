import { logger, pool } from '@postroom/platform';
import type { Attempted } from './attempts.ts';
import { disableAutomatically } from './endpoints.ts';

/** An endpoint that has only failed for so long is disabled, … */
export const DISABLE_AFTER_MS = 3 * 24 * 60 * 60 * 1000;
/** … and so is one at which so many deliveries in a row have failed over at least this time (design: Webhooks). */
export const DISABLE_AFTER_FAILURES = 100;
export const DISABLE_AFTER_FAILURES_MS = 60 * 60 * 1000;

/** What a run of attempts says of one endpoint. */
interface Observed {
  endpointId: string;
  acknowledged: boolean;
  /** Deliveries whose first attempt failed after the last acknowledgement of the run. */
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
 * Keeps count of failures in a row at each endpoint. Endpoints that were well and still are cost no statement. It comes before
 * the attempts are recorded: else the relay, which takes what comes back without a failure for a sign that an endpoint
 * acknowledges, would give hundreds to one that hangs.
 * @returns what disables the endpoints that only fail, once the attempts are recorded.
 */
export async function recordHealth(attempts: readonly Attempted[]): Promise<() => Promise<void>> {
  const observed = observe(attempts);
  if (observed.length === 0) return async () => {};
  const { rows } = await pool.query<Health>(
    `WITH locked AS (
       -- In one order everywhere, so that two batches to the same endpoints never wait for each other.
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

function observe(attempts: readonly Attempted[]): Observed[] {
  const byEndpoint = new Map<string, Observed>();
  for (const { delivery, number, answer, acknowledged } of attempts) {
    const { endpoint_id: endpointId, failing } = delivery;
    const known = byEndpoint.get(endpointId);
    if (acknowledged) {
      if (known !== undefined || failing)
        byEndpoint.set(endpointId, { endpointId, acknowledged: true, failures: 0, failingSince: null });
      continue;
    }
    const before = known ?? { endpointId, acknowledged: false, failures: 0, failingSince: null };
    byEndpoint.set(endpointId, {
      ...before,
      failures: before.failures + (number === 1 ? 1 : 0),
      failingSince: before.failingSince ?? answer.startedAt,
    });
  }
  return [...byEndpoint.values()];
}

async function disableIfFailing(health: Health): Promise<void> {
  const reason = disableReason(health, Date.now());
  if (reason === undefined || !(await disableAutomatically(health.id, reason))) return;
  logger.warn({ endpointId: health.id, reason }, 'a webhook endpoint was disabled');
}

/** Why an endpoint is to be disabled, in words for its owner; `undefined` while there is hope. */
export function disableReason(
  { failures_in_row: failures, failing_since: since }: Omit<Health, 'id'>,
  now: number,
): string | undefined {
  if (since === null) return undefined;
  const failingMs = now - since.getTime();
  if (failingMs >= DISABLE_AFTER_MS) return 'No attempt has been acknowledged for 3 days.';
  if (failures >= DISABLE_AFTER_FAILURES && failingMs >= DISABLE_AFTER_FAILURES_MS) {
    return `${failures} deliveries in a row were not acknowledged, over more than an hour.`;
  }
  return undefined;
}
