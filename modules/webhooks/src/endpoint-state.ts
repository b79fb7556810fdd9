import { databaseNow, pool } from '@postroom/platform';
import { POLICY } from './policy.ts';

const HOUR_MS = 60 * 60 * 1000;

/** Attempts that started in one hour. */
export interface AttemptHour {
  /** The start of the hour. */
  at: Date;
  acknowledged: number;
  failed: number;
}

/** How well an endpoint answers; `idle` without attempts. */
export type AnswerState = 'idle' | 'healthy' | 'degraded' | 'failing';

/** An endpoint's attempts in the window that its state follows. */
export interface Answers {
  state: AnswerState;
  acknowledged: number;
  failed: number;
  /** Every hour of the window, oldest first; the last one is the current hour. */
  hours: AttemptHour[];
}

/** The state for these numbers of attempts, by the shares in `POLICY.endpoint`. */
export function stateOf({ acknowledged, failed }: { acknowledged: number; failed: number }): AnswerState {
  const attempts = acknowledged + failed;
  if (attempts === 0) return 'idle';
  const share = failed / attempts;
  if (share >= POLICY.endpoint.failingShare) return 'failing';
  return share >= POLICY.endpoint.degradedShare ? 'degraded' : 'healthy';
}

/** By primary key, at most `stateWindowHours` rows for each endpoint. */
export const HOURS_OF_ENDPOINTS = `
  SELECT endpoint_id AS "endpointId", hour AS at, acknowledged, failed
  FROM webhook_endpoint_hours WHERE endpoint_id = ANY ($1) AND hour >= $2`;

/** What each endpoint answered in the last `POLICY.endpoint.stateWindowHours` hours, the current one included. */
export async function answersOf(endpointIds: readonly string[]): Promise<Map<string, Answers>> {
  const current = Math.floor(databaseNow() / HOUR_MS) * HOUR_MS;
  const window = Array.from(
    { length: POLICY.endpoint.stateWindowHours },
    (_, index) => current - (POLICY.endpoint.stateWindowHours - 1 - index) * HOUR_MS,
  );
  const { rows } = await pool.query<AttemptHour & { endpointId: string }>(HOURS_OF_ENDPOINTS, [
    endpointIds,
    new Date(window[0] ?? current),
  ]);
  const byEndpoint = Map.groupBy(rows, ({ endpointId }) => endpointId);
  return new Map(endpointIds.map((id) => [id, summarize(window, byEndpoint.get(id) ?? [])]));
}

function summarize(window: readonly number[], counted: readonly AttemptHour[]): Answers {
  const byHour = new Map(counted.map((hour) => [hour.at.getTime(), hour]));
  const hours = window.map((at) => {
    const { acknowledged = 0, failed = 0 } = byHour.get(at) ?? {};
    return { at: new Date(at), acknowledged, failed };
  });
  const total = (name: 'acknowledged' | 'failed') => hours.reduce((sum, hour) => sum + hour[name], 0);
  const sums = { acknowledged: total('acknowledged'), failed: total('failed') };
  return { state: stateOf(sums), ...sums, hours };
}
