import {
  type Client,
  isGrpcServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdReusePolicy,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { config } from '@postroom/platform';
import { latestOf, type Reservation, type Witness } from './witness.ts';

/** The signal of the workflow `witnessSending` that announces reservations. */
const SIGNAL = 'reserved';
/** The gRPC status code. */
const NOT_FOUND = 5;
/** Reservations in one signal: a signal is limited to 2 MB. */
const MAX_PER_SIGNAL = 2_000;

/**
 * Temporal as a witness: a workflow that never ends receives every reservation as a signal. Nothing has to run for a signal to be
 * stored, or for the history to be read.
 * @param known the reservations to start it with if it does not run, such as after Temporal's data was replaced.
 */
export function temporalWitness(client: Client, known: () => Promise<Reservation[]>): Witness {
  const workflowId = `${config.TEMPORAL_TASK_QUEUE}-witness`;
  const handle = client.workflow.getHandle(workflowId);

  async function start(): Promise<void> {
    try {
      await client.workflow.start('witnessSending', {
        taskQueue: config.TEMPORAL_TASK_QUEUE,
        workflowId,
        args: [(await known()).slice(0, MAX_PER_SIGNAL)],
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
        staticSummary: 'How far mail may have been sent',
        staticDetails:
          'Remembers reservations of messages, so that a database restored to an earlier time does not send again. Do not terminate it.',
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }

  return {
    name: `Temporal workflow ${workflowId}`,
    announce: async (reservations) => {
      try {
        await handle.signal(SIGNAL, reservations);
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
        await start();
        await handle.signal(SIGNAL, reservations);
      }
    },
    read: async () => {
      try {
        const { events } = await handle.fetchHistory();
        const inputs = (events ?? []).map(
          (event) =>
            event.workflowExecutionStartedEventAttributes?.input ??
            event.workflowExecutionSignaledEventAttributes?.input,
        );
        const known = await Promise.all(inputs.map((input) => decode(client, input?.payloads?.[0])));
        return latestOf(known.flat());
      } catch (error) {
        if (isGrpcServiceError(error) && error.code === NOT_FOUND) return [];
        throw error;
      }
    },
  };
}

/** The reservations in an argument of a start or a signal. */
async function decode({ options }: Client, payload: Payload | undefined): Promise<Reservation[]> {
  if (payload === undefined) return [];
  const { payloadCodecs, payloadConverter } = options.loadedDataConverter;
  let payloads = [payload];
  for (const codec of payloadCodecs.toReversed()) payloads = await codec.decode(payloads);
  return payloads.flatMap((decoded) => payloadConverter.fromPayload<Reservation[]>(decoded));
}
