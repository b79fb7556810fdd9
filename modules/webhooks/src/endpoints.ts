import {
  retryOn,
  assertValid,
  config,
  db,
  DEADLOCK,
  DomainError,
  type FieldProblem,
  inTransaction,
  isId,
  newId,
  notFound,
  type Page,
  type PageArgs,
  pool,
  type Prisma,
  readRows,
  type RowsQuery,
  sql,
  startWorkflow,
  textProblem,
  type Tx,
  urlProblem,
} from '@postroom/platform';
import { ALL_EVENTS, EVENT_TYPE_NAMES } from './event-types.ts';
import { newSigningSecret } from './signature.ts';
import { signingSecret } from './signing-secrets.ts';

type Endpoint = Prisma.WebhookEndpointModel;

export interface CreateEndpointInput {
  url: string;
  events: readonly string[];
  description?: string | null | undefined;
}

export interface UpdateEndpointInput {
  url?: string | null | undefined;
  events?: readonly string[] | null | undefined;
  /** An empty text removes it. */
  description?: string | null | undefined;
}

/** How long the secret before a rotation signs beside the new one. */
export const ROTATION_OVERLAP_MS = 24 * 60 * 60 * 1000;

/**
 * Registers a URL for events and makes its signing secret, which is returned here and by no list (spec: Webhook endpoints).
 * @throws DomainError `validation_error` for a URL that is not https or leads inside, and for unknown event types, each named.
 */
export async function createEndpoint(
  projectId: string,
  input: CreateEndpointInput,
): Promise<{ id: string; secret: string }> {
  const events = checked(input);
  const id = newId('whe');
  const secret = newSigningSecret();
  await db.webhookEndpoint.create({
    data: {
      id,
      projectId,
      url: input.url,
      description: input.description?.trim() || null,
      events: events ?? [],
      secret: signingSecret.encrypt(secret, id),
    },
  });
  return { id, secret };
}

/** An endpoint of the project, or `not_found`. */
export async function getEndpoint(projectId: string, id: string, query: RowsQuery = {}): Promise<Endpoint> {
  const endpoint = isId('whe', id) ? await db.webhookEndpoint.findFirst({ ...query, where: { id, projectId } }) : null;
  if (endpoint === null) throw notFound('webhook endpoint');
  return endpoint;
}

/** The project's endpoints, newest first. */
export async function listEndpoints(projectId: string, args: PageArgs, query: RowsQuery = {}): Promise<Page<Endpoint>> {
  return readRows(db.webhookEndpoint, 'whe', args, { projectId }, query);
}

/**
 * Changes what is given. Deliveries that wait go to the new URL; events are chosen when they are recorded.
 * @throws DomainError `not_found`; `validation_error` as for a new one, and for an empty update.
 */
export async function updateEndpoint(projectId: string, id: string, input: UpdateEndpointInput): Promise<void> {
  await getEndpoint(projectId, id, { select: { id: true } });
  if (input.url == null && input.events == null && input.description == null) {
    throw new DomainError('validation_error', 'An update needs a url, events or a description.');
  }
  const events = checked(input);
  await db.webhookEndpoint.updateMany({
    where: { id, projectId },
    data: {
      ...(input.url == null ? {} : { url: input.url }),
      ...(events === undefined ? {} : { events }),
      ...(input.description == null ? {} : { description: input.description.trim() || null }),
    },
  });
}

/** Deletes an endpoint with its deliveries; what is under way to it ends by itself. */
export async function deleteEndpoint(projectId: string, id: string): Promise<void> {
  // Its deliveries go with it, and a worker that records attempts at this moment may hold some of them and wait for its row.
  const { rowCount } = await retryOn([DEADLOCK], () =>
    pool.query('DELETE FROM webhook_endpoints WHERE id = $1 AND project_id = $2', [id, projectId]),
  );
  if (rowCount === 0) throw notFound('webhook endpoint');
}

/** Stops deliveries to an endpoint; what waits for it is kept. Events that come meanwhile are not for it. */
export async function disableEndpoint(projectId: string, id: string, reason: string): Promise<void> {
  await getEndpoint(projectId, id, { select: { id: true } });
  await disable(pool, id, { reason, automatically: false });
}

/**
 * The same without asking whose it is: for the worker, which found it failing. The project's owners are told, once each
 * time. Returns false when it was disabled already.
 */
export async function disableAutomatically(id: string, reason: string): Promise<boolean> {
  return inTransaction(async (tx) => {
    const disabled = await disable(tx, id, { reason, automatically: true });
    if (disabled === undefined) return false;
    const { project_id: projectId, disabled_at: at } = disabled;
    await startWorkflow(tx, {
      workflowId: `${id}.disabled.${at.getTime()}`,
      type: 'tellOwners',
      args: [projectId, id],
      summary: `Tell the owners that ${id} was disabled`,
      searchAttributes: { projectId, endpointId: id },
    });
    return true;
  });
}

/** What was disabled; `undefined` when that had been done already. */
async function disable(tx: Tx, id: string, { reason, automatically }: { reason: string; automatically: boolean }) {
  const [disabled] = await sql<{ project_id: string; disabled_at: Date }>(
    tx,
    `WITH disabled AS (
       UPDATE webhook_endpoints
       SET enabled = false, disabled_at = now(), disabled_reason = $2, disabled_automatically = $3, updated_at = now()
       WHERE id = $1 AND enabled RETURNING id, project_id, disabled_at
     ), kept AS (
       UPDATE deliveries SET next_attempt_at = NULL
       WHERE endpoint_id IN (SELECT id FROM disabled) AND state = 'retried' AND dispatched_at IS NULL
     )
     SELECT project_id, disabled_at FROM disabled`,
    [id, reason, automatically],
  );
  return disabled;
}

/**
 * Sends deliveries to an endpoint again. What waited for it is delivered now, or with `backlog: 'drop'` is failed. One that
 * was disabled automatically is enabled by signed-in users only (spec: Webhook delivery).
 * @throws DomainError `not_found`; `forbidden` when an API key asks for what only a user may do.
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
    const what =
      backlog === 'drop'
        ? `state = 'failed', closed_at = now(), next_attempt_at = NULL`
        : `next_attempt_at = coalesce(next_attempt_at, now())`;
    const states = backlog === 'drop' ? `('queued', 'retried')` : `('retried')`;
    await tx.query(
      `UPDATE deliveries SET ${what} WHERE endpoint_id = $1 AND dispatched_at IS NULL AND state IN ${states}`,
      [id],
    );
    await tx.query(`SELECT pg_notify('postroom', 'deliveries')`);
  });
}

/** Shows the signing secret once more. For signed-in people only (spec: Webhook endpoint). */
export async function revealSecret(projectId: string, id: string): Promise<string> {
  const { secret } = await getEndpoint(projectId, id);
  return signingSecret.decrypt(secret, id);
}

/**
 * Makes a new signing secret and returns it; for 24 hours the one before signs `X-Webhook-Signature-Previous`. For signed-in people only.
 * @throws DomainError `conflict` when somebody else rotated it at the same moment.
 */
export async function rotateSecret(projectId: string, id: string): Promise<string> {
  const { secret: previous } = await getEndpoint(projectId, id);
  const secret = newSigningSecret();
  const { count } = await db.webhookEndpoint.updateMany({
    where: { id, projectId, secret: previous },
    data: {
      secret: signingSecret.encrypt(secret, id),
      previousSecret: previous,
      previousSecretExpiresAt: new Date(Date.now() + ROTATION_OVERLAP_MS),
    },
  });
  if (count === 0) throw new DomainError('conflict', 'The secret has just been rotated by somebody else.');
  return secret;
}

/** Checks what is given and returns the event types, each once. */
function checked({ url, events, description }: UpdateEndpointInput): string[] | undefined {
  const problems: FieldProblem[] = [];
  if (url != null) {
    const problem = url.length > 2048 ? 'must be at most 2048 characters' : urlProblem(url, config.webhookScope);
    if (problem !== undefined) problems.push({ field: 'url', message: problem });
  }
  if (description != null) {
    const problem = description.length > 500 ? 'must be at most 500 characters' : textProblem(description);
    if (problem !== undefined) problems.push({ field: 'description', message: problem });
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
  return events.flatMap((type, index) =>
    type === ALL_EVENTS || (EVENT_TYPE_NAMES as string[]).includes(type)
      ? []
      : [{ field: `events.${index}`, message: `"${type.slice(0, 100)}" is not an event type` }],
  );
}
