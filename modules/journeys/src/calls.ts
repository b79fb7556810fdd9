import { type PostResponse, createGuardedClient, type GuardedClient } from '@postroom/guarded-client';
import {
  announce,
  config,
  databaseNow,
  inTransaction,
  isDraining,
  jsonProblem,
  logger,
  NOW,
  pool,
  sql,
} from '@postroom/platform';
import { isHere } from '@postroom/projects/sql';
import { ATTEMPT, isAcknowledged, renderBody, requestHeaders, retryDelayMs } from '@postroom/webhooks';
import { JOURNEYS } from './journeys.ts';
import { signingSecretOf } from './signing-secret.ts';

/** Concurrent calls of a project to a host. */
const CONCURRENCY = 10;
/** How long one activity makes calls before it reports to Temporal, in milliseconds. */
const WORK_MS = 20_000;
/** Bytes kept of a response. */
const RESPONSE_BYTES = 16_384;
/** When a call is attempted again if the process that attempts it is killed: later than any attempt ends. */
const LEASE = '30 seconds';
/** When a call of a run or a journey that is paused is looked at again. */
const PAUSED = '1 minute';

interface Call {
  id: string;
  stepId: string;
  url: string;
  attemptCount: number;
  createdAt: Date;
  isActive: boolean;
  journeyId: string;
  enrollmentId: string;
  properties: unknown;
  contact: unknown;
}

/** Hosts to which a project has calls that are due. Each is two probes of the index on open calls, however many calls wait. */
export const DUE_HOSTS = `
  WITH RECURSIVE hosts AS (
    (SELECT project_id, host FROM journey_calls WHERE next_attempt_at IS NOT NULL ORDER BY project_id, host LIMIT 1)
    UNION ALL
    SELECT n.project_id, n.host FROM hosts h CROSS JOIN LATERAL (
      SELECT c.project_id, c.host FROM journey_calls c
      WHERE c.next_attempt_at IS NOT NULL AND (c.project_id, c.host) > (h.project_id, h.host)
      ORDER BY c.project_id, c.host LIMIT 1) AS n
  )
  SELECT h.project_id AS "projectId", h.host FROM hosts h WHERE EXISTS (
    SELECT FROM journey_calls c WHERE c.project_id = h.project_id AND c.host = h.host AND c.next_attempt_at <= ${NOW})`;

/** Takes calls that are due, closes those whose run has left the step, and defers those whose run is paused. */
const CLAIM = `
  WITH due AS (
    SELECT c.id FROM journey_calls c WHERE c.project_id = $1 AND c.host = $2 AND c.next_attempt_at <= ${NOW} AND ${isHere('$1')}
    ORDER BY c.next_attempt_at LIMIT $3 FOR UPDATE SKIP LOCKED
  ), found AS (
    SELECT c.id, e.ended_at IS NULL AND e.visit = c.visit AS is_open, e.status = 'active' AND j.status = 'active' AS is_active,
      e.journey_id, e.properties, t.email, t.id AS contact_id, t.name, t.custom_fields
    FROM due JOIN journey_calls c ON c.id = due.id JOIN enrollments e ON e.id = c.enrollment_id JOIN journeys j ON j.id = e.journey_id
    LEFT JOIN contacts t ON t.id = e.contact_id
  )
  UPDATE journey_calls c SET next_attempt_at = CASE WHEN NOT f.is_open THEN NULL
      WHEN f.is_active THEN now() + interval '${LEASE}' ELSE now() + interval '${PAUSED}' END
  FROM found f WHERE c.id = f.id
  RETURNING c.id, c.step_id AS "stepId", c.url, c.attempt_count AS "attemptCount", c.created_at AS "createdAt",
    c.enrollment_id AS "enrollmentId", f.is_open AND f.is_active AS "isActive", f.journey_id AS "journeyId", f.properties,
    json_build_object('id', f.contact_id, 'email', f.email, 'name', f.name, 'custom_fields', f.custom_fields) AS contact`;

/**
 * Makes the calls of a project to a host that are due, a bounded number at a time, until there are none or the time is up. An attempt
 * that a killed process has begun is repeated with the same id.
 * @returns whether more may be due.
 */
export async function callHost(projectId: string, host: string, signal: AbortSignal): Promise<boolean> {
  const until = performance.now() + WORK_MS;
  const secret = await signingSecretOf(projectId);
  const inFlight = new Set<Promise<void>>();
  for (;;) {
    const isOver = performance.now() >= until || isDraining() || signal.aborted;
    const values = [projectId, host, CONCURRENCY - inFlight.size];
    const { rows } = isOver ? { rows: [] } : await pool.query<Call>({ name: 'journeys-calls', text: CLAIM, values });
    for (const call of rows.filter(({ isActive }) => isActive)) {
      const attempt = attemptCall(projectId, secret, call)
        .catch((error: unknown) =>
          logger.error({ err: error, callId: call.id }, 'could not record a call of a journey'),
        )
        .finally(() => inFlight.delete(attempt));
      inFlight.add(attempt);
    }
    if (inFlight.size > 0) await Promise.race(inFlight);
    else if (rows.length === 0) return isOver;
  }
}

let client: GuardedClient | undefined;

async function attemptCall(projectId: string, secret: string, call: Call): Promise<void> {
  client ??= createGuardedClient({ scope: config.webhookScope, ...ATTEMPT, responseBytes: RESPONSE_BYTES });
  const { id, url, journeyId, enrollmentId, stepId, contact, properties } = call;
  const number = call.attemptCount + 1;
  const body = renderBody({
    event_id: id,
    event_type: EVENT_TYPE,
    event_created_at: call.createdAt,
    project_id: projectId,
    data: JSON.stringify({
      journey_id: journeyId,
      enrollment_id: enrollmentId,
      step_id: stepId,
      contact,
      event: properties,
    }),
  });
  const headers = () =>
    requestHeaders(
      { deliveryId: id, number, eventType: EVENT_TYPE, secrets: { current: secret, previous: undefined } },
      { eventId: id, timestamp: Math.floor(databaseNow() / 1000), body },
    );
  await recordAttempt(id, number, await client.post({ url, headers, body }));
}

/** The type of the event that calls post, which no endpoint can subscribe to. */
const EVENT_TYPE = 'journey.webhook';

/** The run is locked before its call, as where runs come to wait for calls. */
const MAKE_DUE = `
  UPDATE enrollments e SET due_at = now() FROM journey_calls c
  WHERE c.id = $1 AND e.id = c.enrollment_id AND e.visit = c.visit AND e.ended_at IS NULL`;
const RECORD = `
  UPDATE journey_calls SET attempt_count = $2, acknowledged = $3, status = $4, error = $5, body = $6::jsonb,
    next_attempt_at = now() + $7::float * interval '1 millisecond'
  WHERE id = $1 AND attempt_count = $2 - 1 AND next_attempt_at IS NOT NULL`;

/** Records an attempt, and makes the run due if it was the last. One that another process has recorded is dropped. */
async function recordAttempt(id: string, number: number, response: PostResponse): Promise<void> {
  const acknowledged = isAcknowledged(response);
  const delayMs = acknowledged ? undefined : retryDelayMs(number, response);
  const values = [id, number, acknowledged, response.status, response.error, jsonOf(response.body), delayMs ?? null];
  await inTransaction(async (tx) => {
    if (delayMs === undefined) await sql(tx, MAKE_DUE, [id]);
    await sql(tx, RECORD, values);
    if (delayMs === undefined) await announce(tx, JOURNEYS);
  });
}

/** The text if it is complete JSON that PostgreSQL can store. */
function jsonOf(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && jsonProblem(value) !== undefined
      ? null
      : JSON.stringify(value);
  } catch {
    return null;
  }
}
