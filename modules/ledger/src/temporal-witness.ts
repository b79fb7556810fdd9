import {
  type Client,
  isGrpcServiceError,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandle,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { config } from '@postroom/platform';
import { latestOf, type Reservation, SupersededError, type Witness } from './witness.ts';

/** The signal of the workflow `witnessSending` that announces reservations. */
const SIGNAL = 'reserved';
/** The gRPC status code. */
const NOT_FOUND = 5;
/** Reservations in one signal: a signal is limited to 2 MB. */
const MAX_PER_SIGNAL = 2_000;

/** The run to signal, and the latest epoch that it knew when it was read. */
interface Run {
  runId: string;
  epoch: number;
}

/**
 * Temporal as a witness: a workflow that never ends receives every reservation as a signal. Nothing has to run for a signal to be
 * stored, or for the history to be read. A process signals a run that it has read: a run that ended takes no signal, and a later epoch
 * begins with another run.
 * @param known the reservations to start it with if it does not run, such as after Temporal's data was replaced.
 */
export function temporalWitness(
  client: Client,
  known: () => Promise<Reservation[]>,
  taskQueue = config.TEMPORAL_TASK_QUEUE,
): Witness {
  const workflowId = `${taskQueue}-witness`;
  const runOf = (runId: string) => client.workflow.getHandle(workflowId, runId);
  let current: Promise<Run> | undefined;
  let checked: Run | undefined;

  async function start(
    reservations: Reservation[],
    workflowIdConflictPolicy: WorkflowIdConflictPolicy,
  ): Promise<string> {
    const { firstExecutionRunId } = await client.workflow.start('witnessSending', {
      taskQueue,
      workflowId,
      args: [reservations.slice(0, MAX_PER_SIGNAL)],
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      workflowIdConflictPolicy,
      staticSummary: 'How far mail may have been sent',
      staticDetails:
        'Remembers reservations of messages, so that a database restored to an earlier time does not send again. Do not terminate it.',
    });
    return firstExecutionRunId;
  }

  /** The id of the open run; undefined if there is none. */
  async function openRun(): Promise<string | undefined> {
    try {
      const { runId, status } = await client.workflow.getHandle(workflowId).describe();
      return status.name === 'RUNNING' ? runId : undefined;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    }
  }

  async function readRun(runId: string): Promise<Run> {
    const { known: reservations } = await historyOf(client, runOf(runId));
    return { runId, epoch: Math.max(0, ...reservations.map(({ epoch }) => epoch)) };
  }

  /** Finds the open run, or starts one. */
  async function findRun(): Promise<Run> {
    for (;;) {
      const runId = await openRun();
      if (runId !== undefined) return readRun(runId);
      try {
        await start(await known(), WorkflowIdConflictPolicy.FAIL);
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    }
  }

  async function announce(reservations: readonly Reservation[]): Promise<void> {
    const epoch = Math.max(...reservations.map((reservation) => reservation.epoch));
    for (;;) {
      const found = (current ??= findRun());
      try {
        const run = await found;
        if (run.epoch > epoch) throw new SupersededError(epoch);
        return await runOf(run.runId).signal(SIGNAL, reservations);
      } catch (error) {
        if (current === found) current = undefined;
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
    }
  }

  return {
    name: `Temporal workflow ${workflowId}`,
    announce,
    checkEpoch: async (epoch) => {
      const runId = await openRun();
      if (runId !== undefined && runId !== checked?.runId) checked = await readRun(runId);
      if (checked !== undefined && checked.epoch > epoch) throw new SupersededError(epoch);
    },
    beginEpoch: async (first) => {
      const ended = await openRun();
      const carried = ended === undefined ? [] : (await historyOf(client, runOf(ended))).known;
      const runId = await start([first, ...carried], WorkflowIdConflictPolicy.TERMINATE_EXISTING);
      current = Promise.resolve({ runId, epoch: first.epoch });
      // What was signaled while it was read is in the history of the run, or of those that continued it.
      const all: Reservation[] = [];
      for (let next = ended; next !== undefined;) {
        const history = await historyOf(client, runOf(next));
        all.push(...history.known);
        next = history.continuedBy;
      }
      const passed = new Set(carried.slice(0, MAX_PER_SIGNAL - 1).map(({ epoch, number }) => `${epoch}.${number}`));
      const missing = latestOf(all).filter(({ epoch, number }) => !passed.has(`${epoch}.${number}`));
      for (let at = 0; at < missing.length; at += MAX_PER_SIGNAL)
        await runOf(runId).signal(SIGNAL, missing.slice(at, at + MAX_PER_SIGNAL));
    },
    read: async () => {
      try {
        return (await historyOf(client, client.workflow.getHandle(workflowId))).known;
      } catch (error) {
        if (isGrpcServiceError(error) && error.code === NOT_FOUND) return [];
        throw error;
      }
    },
  };
}

/** What a run knows: the last reservation of each scope. */
async function historyOf(
  client: Client,
  run: WorkflowHandle,
): Promise<{ known: Reservation[]; continuedBy: string | undefined }> {
  const events = (await run.fetchHistory()).events ?? [];
  const inputs = events.map(
    (event) =>
      event.workflowExecutionStartedEventAttributes?.input ?? event.workflowExecutionSignaledEventAttributes?.input,
  );
  const known = await Promise.all(inputs.map((input) => decode(client, input?.payloads?.[0])));
  const end = events.at(-1)?.workflowExecutionContinuedAsNewEventAttributes;
  return { known: latestOf(known.flat()), continuedBy: end?.newExecutionRunId ?? undefined };
}

/** The reservations in an argument of a start or a signal. */
async function decode({ options }: Client, payload: Payload | undefined): Promise<Reservation[]> {
  if (payload === undefined) return [];
  const { payloadCodecs, payloadConverter } = options.loadedDataConverter;
  let payloads = [payload];
  for (const codec of payloadCodecs.toReversed()) payloads = await codec.decode(payloads);
  return payloads.flatMap((decoded) => payloadConverter.fromPayload<Reservation[]>(decoded));
}
