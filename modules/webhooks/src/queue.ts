import { idsFrom, inTransaction, lockUntilCommit, NOW, pool } from '@postroom/platform';
import { isHere } from '@postroom/projects/sql';
import type { Take } from './plan.ts';
import { POLICY } from './policy.ts';

/** A delivery just claimed for a workflow. */
export interface Claimed {
  id: string;
  project_id: string;
  endpoint_id: string;
  event_type: string;
  workflow_id: string;
  /** Attempts recorded so far. */
  attempt_count: number;
  /** Of the event. */
  traceparent: string | null;
}

/** The outcome of the last attempt is null if there was none. */
export interface ClaimedRetry extends Claimed {
  status: number | null;
  error: string | null;
}

export interface WaitingRow {
  endpoint_id: string;
  project_id: string;
  enabled: boolean | null;
  waiting: number;
  failures_in_row: number;
  failing: boolean;
  attempting: number;
  retrying: number;
  in_flight: number;
  project_in_flight: number;
}

/**
 * One page of endpoints for which rows wait, with the attempts in flight to them. The functions are defined in migrations, which explain
 * why: this must never scan all deliveries.
 * @param state of the rows that are in flight.
 * @param failing condition on the endpoint: the last attempts of this kind were not acknowledged.
 * @param rows a table expression with the columns endpoint_id, waiting and retrying.
 */
const readEndpoints = (state: 'queued' | 'retried', failing: string, rows: string) => `
  WITH in_flight AS MATERIALIZED (
    SELECT c.endpoint_id, c.count AS attempting, e.project_id
    FROM count_attempts_in_flight($2) c LEFT JOIN webhook_endpoints e ON e.id = c.endpoint_id WHERE c.state = '${state}'
  ), in_flight_per_project AS MATERIALIZED (
    SELECT project_id, sum(attempting)::int AS attempting FROM in_flight GROUP BY project_id
  )
  SELECT w.endpoint_id, w.waiting, w.retrying, e.project_id, e.enabled AND ${isHere('e.project_id')} AS enabled, e.failures_in_row, ${failing} AS failing,
    coalesce(h.attempting, 0) AS attempting, (SELECT coalesce(sum(attempting), 0)::int FROM in_flight) AS in_flight,
    coalesce(p.attempting, 0) AS project_in_flight
  FROM ${rows} w
  LEFT JOIN webhook_endpoints e ON e.id = w.endpoint_id
  LEFT JOIN in_flight h ON h.endpoint_id = w.endpoint_id
  LEFT JOIN in_flight_per_project p ON p.project_id = e.project_id
  ORDER BY w.endpoint_id`;

/** Endpoints with deliveries that were not attempted yet. */
export const READ_WAITING = readEndpoints(
  'queued',
  'e.failures_in_row > 0',
  `read_waiting_deliveries($1, ${POLICY.dispatch.endpointsPerRound}, ${POLICY.batch.size}, ${POLICY.endpoint.maxInFlightDegraded}, $2)`,
);

/** Endpoints with retries, which don't count as failures in a row. */
export const READ_DUE_RETRIES = readEndpoints(
  'retried',
  'e.failing_since IS NOT NULL',
  `(SELECT endpoint_id, due AS waiting, 0 AS retrying
    FROM read_due_retries($1, ${POLICY.dispatch.endpointsPerRound}, ${POLICY.batch.size}, $2))`,
);

/**
 * Where the deliveries begin that a round of the dispatcher reads, as an id. Old ones are rarely waiting, and looking for them opens
 * every partition. A limit at the other end would be a range, which PostgreSQL expects to be small and would read by id.
 */
export const recentDeliveries = (now: number): string => idsFrom('dlv', new Date(now - POLICY.dispatch.recentMs));
export const ALL_DELIVERIES = '';

/** Reads all deliveries at intervals, and as long as old ones are claimed; otherwise those created lately. */
export class DispatchWindow {
  #sweepAt = 0;

  next(now: number): string {
    return now >= this.#sweepAt ? ALL_DELIVERIES : recentDeliveries(now);
  }

  done(from: string, { claimed, isLastPage }: { claimed: readonly Claimed[]; isLastPage: boolean }, now: number) {
    const recent = recentDeliveries(now);
    if (from === ALL_DELIVERIES && isLastPage && claimed.every(({ id }) => id >= recent))
      this.#sweepAt = now + POLICY.dispatch.sweepIntervalMs;
  }
}

interface WaitingPage {
  /** Enabled endpoints. `waiting` can be 0 for retries, if none is due. */
  endpoints: WaitingRow[];
  /** Attempts in flight over all endpoints. */
  inFlight: number;
  /** Where the next page starts; `''` on the last page. */
  last: string;
}

/** Where statements run: on their own, or in the transaction of `claimInTurn`. */
export type Queryable = Pick<typeof pool, 'query'>;

/** Reads the attempts in flight and claims more, one dispatcher at a time: two that read the same numbers would exceed the limit. */
export const claimInTurn = <T>(claim: (client: Queryable) => Promise<T>): Promise<T> =>
  inTransaction(async (client) => {
    await lockUntilCommit(client, 'webhooks dispatch');
    return claim(client as Queryable);
  });

/** Reads one page of endpoints with waiting first attempts, after the endpoint id `after`. */
export const readWaiting = (client: Queryable, after: string, from: string) =>
  readPage(client, { name: 'webhooks-waiting', text: READ_WAITING }, after, from);

/** Reads one page of endpoints with waiting retries, after the endpoint id `after`. */
export const readDueRetries = (client: Queryable, after: string, from: string) =>
  readPage(client, { name: 'webhooks-due-retries', text: READ_DUE_RETRIES }, after, from);

async function readPage(
  client: Queryable,
  query: { name: string; text: string },
  after: string,
  from: string,
): Promise<WaitingPage> {
  const { rows } = await client.query<WaitingRow>({ ...query, values: [after, from] });
  return {
    endpoints: rows.filter(({ enabled }) => enabled === true),
    inFlight: rows[0]?.in_flight ?? 0,
    last: rows.length === POLICY.dispatch.endpointsPerRound ? (rows.at(-1)?.endpoint_id ?? '') : '',
  };
}

/** The id of a delivery's own workflow. An id starts only one workflow, so a released delivery gets a new suffix. */
const OWN_WORKFLOW_ID = `d.id || CASE WHEN d.returns = 0 THEN '' ELSE '.' || (d.returns + 1) END`;

/** The batch that its endpoint's deliveries are claimed into; NULL if each gets its own workflow. */
const BATCH = `CASE WHEN NOT d.own_workflow THEN ($3::text[])[array_position($1::text[], d.endpoint_id)] END`;

/**
 * Claims rows of each endpoint. The endpoint is matched as a range and leads the sort order, so that only its own index
 * qualifies. With an equality and ORDER BY id, PostgreSQL would walk the ids of all waiting deliveries when nearly all belong to
 * another endpoint.
 *
 * PostgreSQL cannot estimate that a claim is small: an array of ids makes it use the primary key. A join by id would choose partitions
 * while rows are being changed (see `@postroom/partitions/sql`), so batches are found by endpoint, and events are read afterwards.
 * @param assignments besides those of the workflow
 * @param read the statement that reads the deliveries that were `claimed`
 */
const claimStatement = (where: string, order: string, assignments: string, read: string) => `
  WITH picked AS (
    SELECT d.id
    FROM unnest($1::text[], $2::int[]) AS taken(endpoint_id, take)
    CROSS JOIN LATERAL (
      SELECT id FROM deliveries
      WHERE endpoint_id BETWEEN taken.endpoint_id AND taken.endpoint_id AND id >= $4
        AND dispatched_at IS NULL AND ${where}
      ORDER BY endpoint_id, ${order} LIMIT taken.take FOR UPDATE SKIP LOCKED
    ) AS d
  ), claimed AS (
    UPDATE deliveries d SET dispatched_at = now(), workflow_id = coalesce(${BATCH}, ${OWN_WORKFLOW_ID}) ${assignments}
    WHERE d.id = ANY (ARRAY(SELECT id FROM picked)) AND d.id >= $4
    RETURNING d.id, d.project_id, d.endpoint_id, d.event_id, d.workflow_id, d.attempt_count
  )
  ${read}`;

const CLAIMED_COLUMNS = `d.id, d.project_id, d.endpoint_id, d.workflow_id, d.attempt_count, e.type AS event_type, e.traceparent`;

export const CLAIM_FIRST_ATTEMPTS = claimStatement(
  `state = 'queued'`,
  'id',
  ', next_attempt_at = now()',
  `SELECT ${CLAIMED_COLUMNS} FROM claimed d JOIN events e ON e.id = d.event_id`,
);

/** Claims the oldest deliveries of each endpoint. SKIP LOCKED keeps concurrent dispatchers from claiming the same ones. */
export const claimFirstAttempts = (client: Queryable, takes: readonly Take[], from: string) =>
  claim<Claimed>(client, { name: 'webhooks-claim', text: CLAIM_FIRST_ATTEMPTS }, takes, from);

/** A delivery that was moved out of a batch may have no attempt. */
export const CLAIM_RETRIES = claimStatement(
  `state = 'retried' AND next_attempt_at <= ${NOW}`,
  'next_attempt_at',
  '',
  `SELECT ${CLAIMED_COLUMNS}, last.status, last.error
   FROM claimed d JOIN events e ON e.id = d.event_id LEFT JOIN LATERAL (
     SELECT status, error FROM attempts WHERE delivery_id = d.id ORDER BY number DESC LIMIT 1
   ) AS last ON true`,
);

/** Claims retries that are due, of each endpoint those due earliest. */
export const claimRetries = (client: Queryable, takes: readonly Take[], from: string) =>
  claim<ClaimedRetry>(client, { name: 'webhooks-claim-retries', text: CLAIM_RETRIES }, takes, from);

async function claim<Row extends Claimed>(
  client: Queryable,
  query: { name: string; text: string },
  takes: readonly Take[],
  from: string,
): Promise<Row[]> {
  if (takes.length === 0) return [];
  const { rows } = await client.query<Row>({
    ...query,
    values: [
      takes.map(({ endpointId }) => endpointId),
      takes.map(({ take }) => take),
      takes.map(({ batch }) => batch),
      from,
    ],
  });
  return rows;
}

/** Releases deliveries whose workflow did not start. */
export async function releaseClaim(ids: readonly string[]): Promise<void> {
  await pool.query(
    'UPDATE deliveries SET dispatched_at = NULL, workflow_id = NULL WHERE id = ANY ($1) AND closed_at IS NULL',
    [ids],
  );
}
