import { currentTraceparent, inSpan, logger } from '@postroom/observability';
import { assertNoTransaction } from '@postroom/network';
import { config } from '@postroom/settings/config';
import {
  type Client,
  isGrpcServiceError,
  ServiceError,
  type WorkflowClientInterceptor,
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
} from '@temporalio/client';
import {
  defaultPayloadConverter,
  defineSearchAttributeKey,
  SearchAttributeType,
  TypedSearchAttributes,
} from '@temporalio/common';
import { LRUCache } from 'lru-cache';
import { SEARCH_ATTRIBUTES, type WorkflowLabels } from './workflow-labels.ts';

/** A workflow that a dispatcher starts, eagerly where its client does: see `startEagerly`. */
export interface EagerStart extends WorkflowLabels {
  workflowId: string;
  type: string;
  args: unknown[];
  /** By default the queue that most workflows share. */
  taskQueue?: string;
}

/**
 * Starts a workflow with its row's id. Succeeds if that workflow is already running, or is closed and not `restartable`. If the
 * namespace lacks a search attribute, the workflow starts without any.
 */
export async function startOnce(client: Client, start: EagerStart): Promise<void> {
  assertNoTransaction(`Temporal was called for ${start.workflowId}`);
  const { type, workflowId, traceparent } = start;
  if (traceparent == null) return startUntraced(client, start);
  const attributes = { 'temporal.workflow.id': workflowId };
  await inSpan(`start ${type}`, { kind: 'producer', parent: traceparent, attributes }, () =>
    startUntraced(client, start),
  );
}

async function startUntraced(client: Client, start: EagerStart): Promise<void> {
  try {
    await startLabeled(client, start);
  } catch (error) {
    if (!lacksSearchAttribute(error)) throw error;
    logger.warn({ err: error, workflowId: start.workflowId }, 'started without search attributes');
    await startLabeled(client, { ...start, searchAttributes: {} }, { withoutSearchAttributes: true });
  }
}

/** Whether Temporal refuses a request for what it contains, as often as it is made. Other errors, such as an outage, end. */
const isRefusal = (error: unknown): error is ServiceError & { cause: { details: string } } =>
  error instanceof ServiceError && isGrpcServiceError(error.cause) && error.cause.code === INVALID_ARGUMENT;

/** Temporal rejects a start that names a search attribute that the namespace does not have. */
const lacksSearchAttribute = (error: unknown): boolean =>
  isRefusal(error) && /search attribute/i.test(error.cause.details);

/** The gRPC status code. */
const INVALID_ARGUMENT = 3;

/** @param memo tells the workflow that it must not set attributes either. */
async function startLabeled(
  client: Client,
  start: EagerStart,
  memo?: { withoutSearchAttributes: true },
): Promise<void> {
  try {
    await client.workflow.start(start.type, {
      taskQueue: start.taskQueue ?? config.TEMPORAL_TASK_QUEUE,
      workflowId: start.workflowId,
      args: start.args,
      workflowIdReusePolicy:
        start.restartable === true ? WorkflowIdReusePolicy.ALLOW_DUPLICATE : WorkflowIdReusePolicy.REJECT_DUPLICATE,
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
      ...(start.summary === undefined ? {} : { staticSummary: start.summary }),
      ...(start.details === undefined ? {} : { staticDetails: start.details }),
      ...(memo === undefined ? {} : { memo }),
      typedSearchAttributes: searchAttributes(start.searchAttributes ?? {}),
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/** How long a start that Temporal refused is left alone, in milliseconds: it would refuse it again. */
const REFUSED_MS = 60_000;
const refused = new LRUCache<string, true>({ max: 10_000, ttl: REFUSED_MS });

/**
 * Starts workflows for claimed rows, and releases the rows of those that did not start. Those that Temporal refuses for what they contain
 * delay no others: they are logged, and left alone for a minute.
 * @returns how many started. If none did, another round at once would start none either.
 * @throws the first rejection that has another cause, such as an outage.
 */
export async function startAll<Start extends EagerStart>(
  client: Client,
  starts: readonly Start[],
  release: (rejected: readonly Start[]) => Promise<void>,
): Promise<number> {
  const rejected: Start[] = [];
  const failed: { start: Start; error: unknown }[] = [];
  const tryStart = async (start: Start) => {
    if (refused.has(start.workflowId)) return void rejected.push(start);
    await startOnce(client, start).catch((error: unknown) => {
      rejected.push(start);
      failed.push({ start, error });
    });
  };
  await Promise.all(starts.map(tryStart));
  if (rejected.length > 0) await release(rejected);
  const refusals = failed.filter(({ error }) => isRefusal(error));
  for (const { start } of refusals) refused.set(start.workflowId, true);
  if (refusals[0] !== undefined) {
    const { start, error } = refusals[0];
    const fields = { err: error, workflowId: start.workflowId, refused: refusals.length };
    logger.error(fields, 'Temporal refused to start workflows; will retry in a minute');
  }
  const outage = failed.find(({ error }) => !isRefusal(error));
  if (outage !== undefined) throw outage.error;
  return starts.length - rejected.length;
}

/**
 * For a client whose connection is shared with a worker of this process: uses eager start, so that the workflow's
 * first task comes back with the start response, if the worker has a free slot, instead of through a task queue.
 */
export const startEagerly: WorkflowClientInterceptor = {
  startWithDetails: (input, next) => next({ ...input, options: { ...input.options, requestEagerStart: true } }),
};

/** Gives a workflow the trace context that it is started in; its interceptor hands it to activities. */
export const startTracedWorkflows: WorkflowClientInterceptor = {
  startWithDetails: (input, next) => {
    const traceparent = currentTraceparent();
    if (traceparent === null) return next(input);
    return next({
      ...input,
      headers: { ...input.headers, traceparent: defaultPayloadConverter.toPayload(traceparent) },
    });
  },
};

function searchAttributes(values: NonNullable<WorkflowLabels['searchAttributes']>): TypedSearchAttributes {
  const pairs = SEARCH_ATTRIBUTES.flatMap((name) => {
    const value = values[name];
    return value === undefined ? [] : [{ key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD), value }];
  });
  return new TypedSearchAttributes(pairs);
}
