import {
  deleteInBatches,
  assertValid,
  checkLimit,
  config,
  databaseNow,
  db,
  DEADLOCK,
  DomainError,
  emptyUpdate,
  type FieldProblem,
  inTransaction,
  isId,
  newId,
  newUrlProblem,
  notFound,
  oneLineProblems,
  type Page,
  type PageArgs,
  pool,
  type Prisma,
  readRows,
  requireReadable,
  retryOn,
  type RowsQuery,
  sql,
  type Tx,
  normalizeText,
} from '@postroom/platform';
import { notify } from '@postroom/notifications';
import { ALL_EVENTS, eventTypeProblems } from '@postroom/events';
import { newSigningSecret } from '@postroom/guarded-client';
import { signingSecret } from './signing-secrets.ts';
import { disabledNotice } from './notice.ts';
import { POLICY } from './policy.ts';

export const MAX_URL_LENGTH = 2048;
export const MAX_DESCRIPTION_LENGTH = 500;
/** Every event is a delivery to each endpoint that subscribes to it. */
const MAX_ENDPOINTS = 200;

type Endpoint = Prisma.WebhookEndpointModel;

export interface CreateEndpointInput {
  url: string;
  events: readonly string[];
  description?: string | null | undefined;
}

export interface UpdateEndpointInput {
  url?: string | null | undefined;
  events?: readonly string[] | null | undefined;
  /** An empty string removes it. */
  description?: string | null | undefined;
}

/**
 * Registers a URL for events and generates its signing secret, which is returned here and never listed (spec: Webhook
 * endpoints).
 * @throws DomainError `validation_error` for a URL that is not https or targets an internal address, and for each
 * unknown event type; `conflict` if the project has too many endpoints.
 */
export async function createEndpoint(
  projectId: string,
  input: CreateEndpointInput,
): Promise<{ id: string; secret: string }> {
  const events = validate(input);
  const id = newId('whe');
  const secret = newSigningSecret();
  const data = {
    id,
    projectId,
    url: input.url,
    description: normalizeText(input.description ?? '') || null,
    events: events ?? [],
    secret: signingSecret.encrypt(secret, id),
  };
  await db.$transaction(async (tx) => {
    await tx.webhookEndpoint.create({ data });
    const limit = { of: projectId, rows: 'webhook endpoints', max: MAX_ENDPOINTS };
    await checkLimit(tx, limit, () => tx.webhookEndpoint.count({ where: { projectId } }));
  });
  return { id, secret };
}

/**
 * Returns an endpoint of the project.
 * @throws DomainError `not_found`.
 */
export async function getEndpoint(projectId: string, id: string, query: RowsQuery = {}): Promise<Endpoint> {
  const endpoint = isId('whe', id) ? await db.webhookEndpoint.findFirst({ ...query, where: { id, projectId } }) : null;
  if (endpoint === null) throw notFound('webhook endpoint');
  return endpoint;
}

/** The project's endpoints, newest first. */
export async function listEndpoints(projectId: string, args: PageArgs, query: RowsQuery): Promise<Page<Endpoint>> {
  return readRows(db.webhookEndpoint, 'whe', args, { projectId }, query);
}

/**
 * Updates the given fields. Waiting deliveries go to the new URL; changed event types apply to events recorded from
 * now on.
 * @throws DomainError `not_found`; `validation_error` as in `createEndpoint`, and for an empty update.
 */
export async function updateEndpoint(projectId: string, id: string, input: UpdateEndpointInput): Promise<void> {
  await getEndpoint(projectId, id, { select: { id: true } });
  if (input.url == null && input.events == null && input.description === undefined) {
    throw emptyUpdate();
  }
  const events = validate(input);
  const data = {
    ...(input.url == null ? {} : { url: input.url }),
    ...(events === undefined ? {} : { events }),
    ...(input.description === undefined ? {} : { description: normalizeText(input.description ?? '') || null }),
  };
  await db.$transaction((tx) => tx.webhookEndpoint.updateMany({ where: { id, projectId }, data }));
}

/** Deliveries that are deleted in a statement. */
const BATCH = 5_000;

/** Deletes a batch, unless it would be the last one. */
const DELETE_DELIVERIES = `
  DELETE FROM deliveries WHERE id = ANY (ARRAY(
    SELECT id FROM deliveries
    WHERE endpoint_id = $1 AND EXISTS (SELECT FROM deliveries WHERE endpoint_id = $1 OFFSET ${BATCH} LIMIT 1)
    ORDER BY id LIMIT ${BATCH}))`;

/** Deletes an endpoint and its deliveries. POSTs in flight are not aborted. Interrupted, it leaves the endpoint with fewer deliveries. */
export async function deleteEndpoint(projectId: string, id: string): Promise<void> {
  await getEndpoint(projectId, id, { select: { id: true } });
  await retryOn([DEADLOCK], () => deleteInBatches(DELETE_DELIVERIES, [id], { batch: BATCH }));
  // A trigger deletes the deliveries that are left. It may deadlock with a worker that is recording attempts: it holds deliveries and
  // waits for the endpoint's row.
  const { rowCount } = await retryOn([DEADLOCK], () =>
    pool.query('DELETE FROM webhook_endpoints WHERE id = $1 AND project_id = $2', [id, projectId]),
  );
  if (rowCount === 0) throw notFound('webhook endpoint');
}

/**
 * Stops deliveries to an endpoint. Waiting deliveries are kept; events recorded while it is disabled are not
 * delivered.
 */
export async function disableEndpoint(projectId: string, id: string, reason: string): Promise<void> {
  await getEndpoint(projectId, id, { select: { id: true } });
  await inTransaction((tx) => disable(tx, id, { reason, automatically: false }));
}

/**
 * Disables a failing endpoint, in any project, and notifies the project's owners and admins once. Returns false if it was
 * already disabled.
 */
export async function disableAutomatically(id: string, reason: string): Promise<boolean> {
  return inTransaction(async (tx) => {
    const disabled = await disable(tx, id, { reason, automatically: true });
    if (disabled === undefined) return false;
    await notify(tx, disabled.project_id, disabledNotice({ ...disabled, id, reason }));
    return true;
  });
}

/** Returns the disabled endpoint; `undefined` if it was already disabled. */
async function disable(tx: Tx, id: string, { reason, automatically }: { reason: string; automatically: boolean }) {
  const [disabled] = await sql<{ project_id: string; url: string; description: string | null }>(
    tx,
    `WITH disabled AS (
       UPDATE webhook_endpoints
       SET enabled = false, disabled_at = now(), disabled_reason = $2, disabled_automatically = $3, updated_at = now()
       WHERE id = $1 AND enabled RETURNING id, project_id, url, description
     ), suspended AS (
       UPDATE deliveries SET next_attempt_at = NULL
       WHERE endpoint_id IN (SELECT id FROM disabled) AND state = 'retried' AND dispatched_at IS NULL
     )
     SELECT project_id, url, description FROM disabled`,
    [id, reason, automatically],
  );
  return disabled;
}

/**
 * Resumes deliveries to an endpoint. Its backlog is delivered now, or failed with `backlog: 'drop'`. Only signed-in
 * users can enable an endpoint that was disabled automatically (spec: Webhook delivery).
 * @throws DomainError `not_found`; `forbidden` when an API key enables an endpoint that was disabled automatically.
 */
export async function enableEndpoint(
  projectId: string,
  id: string,
  { backlog = 'deliver', byKey = false }: { backlog?: 'deliver' | 'drop'; byKey?: boolean } = {},
): Promise<void> {
  const { enabled, disabledAutomatically } = await getEndpoint(projectId, id);
  if (byKey && !enabled && disabledAutomatically) {
    throw new DomainError(
      'forbidden',
      'This endpoint was disabled automatically because its deliveries kept failing. Enable it in the dashboard.',
    );
  }
  await inTransaction(async (tx) => {
    await tx.query(
      `UPDATE webhook_endpoints SET enabled = true, disabled_at = NULL, disabled_reason = NULL,
         disabled_automatically = false, failures_in_row = 0, failing_since = NULL, updated_at = now()
       WHERE id = $1 AND NOT enabled AND NOT ($2 AND disabled_automatically)`,
      [id, byKey],
    );
    const assignments =
      backlog === 'drop'
        ? `state = 'failed', closed_at = now(), next_attempt_at = NULL`
        : `next_attempt_at = coalesce(next_attempt_at, now())`;
    const states = backlog === 'drop' ? `('queued', 'retried')` : `('retried')`;
    await tx.query(
      `UPDATE deliveries SET ${assignments} WHERE endpoint_id = $1 AND dispatched_at IS NULL AND state IN ${states}`,
      [id],
    );
    await tx.query(`SELECT pg_notify('postroom', 'deliveries')`);
  });
}

/**
 * Returns the signing secret. For signed-in users only (spec: Webhook endpoint).
 * @throws DomainError `conflict` if its encryption key is lost.
 */
export async function revealSecret(projectId: string, id: string): Promise<string> {
  const { secret } = await getEndpoint(projectId, id);
  return requireReadable(() => signingSecret.decrypt(secret, id), 'Rotate it to get a new one.');
}

/**
 * Replaces the signing secret and returns the new one. The previous one signs `X-Webhook-Signature-Previous` for 24
 * hours. For signed-in users only.
 * @throws DomainError `conflict` on a concurrent rotation.
 */
export async function rotateSecret(projectId: string, id: string): Promise<string> {
  const { secret: previous } = await getEndpoint(projectId, id);
  const secret = newSigningSecret();
  const { count } = await db.webhookEndpoint.updateMany({
    where: { id, projectId, secret: previous },
    data: {
      secret: signingSecret.encrypt(secret, id),
      previousSecret: previous,
      previousSecretExpiresAt: new Date(databaseNow() + POLICY.endpoint.rotationOverlapMs),
    },
  });
  if (count === 0)
    throw new DomainError(
      'conflict',
      'The secret was rotated by someone else at the same moment. Reload and try again.',
    );
  return secret;
}

/** Validates the given fields and returns the event types without duplicates. */
function validate({ url, events, description }: UpdateEndpointInput): string[] | undefined {
  const problems: FieldProblem[] = [];
  if (url != null) {
    const problem =
      url.length > MAX_URL_LENGTH
        ? `must be at most ${MAX_URL_LENGTH} characters`
        : newUrlProblem(url, config.webhookScope);
    if (problem !== undefined) problems.push({ field: 'url', message: problem });
  }
  if (description != null) {
    problems.push(...oneLineProblems({ description }, MAX_DESCRIPTION_LENGTH));
  }
  if (events != null) problems.push(...eventProblems(events));
  assertValid(problems);
  return events == null ? undefined : [...new Set(events)];
}

function eventProblems(events: readonly string[]): FieldProblem[] {
  if (events.length === 0) return [{ field: 'events', message: 'must name at least one event type, or be ["*"]' }];
  if (events.length > 1 && events.includes(ALL_EVENTS)) {
    return [{ field: 'events', message: '"*" stands for every type and must be alone' }];
  }
  return events.flatMap((type, index) => (type === ALL_EVENTS ? [] : eventTypeProblems(`events.${index}`, type)));
}
