import { databaseNow } from '@postroom/clock';
import type { EndpointQueue } from './plan.ts';
import type { Claimed, WaitingRow } from './queue.ts';
import { POLICY } from './policy.ts';

/** What this dispatcher observed of an endpoint in its last round. */
interface EndpointLoad {
  attempting: number;
  healthyAt: number;
  servedAt: number;
  readAt: number;
}

/** What this dispatcher observed of endpoints, for first attempts or for retries. */
export class EndpointLoads {
  readonly #endpoints = new Map<string, EndpointLoad>();

  /**
   * An endpoint's queue as `plan` needs it. It is healthy if attempts in flight decreased since the last round without
   * a failure.
   */
  toQueue(row: WaitingRow): EndpointQueue {
    const now = databaseNow();
    const before = this.#loadOf(row.endpoint_id);
    const isDraining = !row.failing && row.attempting < before.attempting;
    const healthyAt = row.failing ? 0 : isDraining ? now : before.healthyAt;
    this.#endpoints.set(row.endpoint_id, { ...before, attempting: row.attempting, healthyAt, readAt: now });
    return {
      endpointId: row.endpoint_id,
      projectId: row.project_id,
      projectInFlight: row.project_in_flight,
      waiting: row.waiting,
      failuresInRow: row.failures_in_row,
      isHealthy: now - healthyAt < POLICY.endpoint.healthyMs,
      attempting: row.attempting,
      retrying: row.retrying,
      servedAt: before.servedAt,
    };
  }

  /** Adds newly claimed deliveries to those in flight. */
  recordDispatched(claimed: readonly Claimed[]): void {
    const counts = new Map<string, number>();
    for (const { endpoint_id: id } of claimed) counts.set(id, (counts.get(id) ?? 0) + 1);
    for (const [id, count] of counts) {
      const before = this.#loadOf(id);
      this.#endpoints.set(id, { ...before, attempting: before.attempting + count, servedAt: databaseNow() });
    }
  }

  /** Drops endpoints that have had nothing waiting for a while. */
  forgetIdle(): void {
    for (const [id, { readAt }] of this.#endpoints)
      if (databaseNow() - readAt > POLICY.endpoint.healthyMs) this.#endpoints.delete(id);
  }

  #loadOf(id: string): EndpointLoad {
    return this.#endpoints.get(id) ?? { attempting: 0, healthyAt: 0, servedAt: 0, readAt: databaseNow() };
  }
}
