import { Client } from '@temporalio/client';
import { NativeConnection, type WorkerOptions } from '@temporalio/worker';
import { errorLine } from '@postroom/errors';
import { config, exponentialDelays, logger, retry } from '@postroom/platform';
import { payloadCodec } from '@postroom/temporal/payload-codec';
import { startEagerly, startTracedWorkflows } from '@postroom/platform/dispatcher';
import { temporalSettings } from '@postroom/settings';

export interface TemporalConnections {
  client: Client;
  native: NativeConnection;
  /** For workers, which must read what the client wrote. */
  dataConverter: NonNullable<WorkerOptions['dataConverter']>;
  close: () => Promise<void>;
}

/** Connects to Temporal as the environment configures it. Waits for a server that is not up yet. */
export async function connectTemporal(
  signal: AbortSignal,
  onFailure: (error: unknown) => void = logFailure,
): Promise<TemporalConnections> {
  const { connection, namespace } = temporalSettings(config);
  const native = await retry(() => NativeConnection.connect(connection), {
    delaysMs: exponentialDelays(250, 5_000),
    signal,
    onFailure,
  }).catch((error: unknown) => {
    throw new Error(`can't connect to Temporal at ${config.TEMPORAL_ADDRESS}: ${errorLine(error)}`, { cause: error });
  });
  const dataConverter = { payloadCodecs: [payloadCodec(config.secretKeys, config.TEMPORAL_ENCRYPT_PAYLOADS)] };
  return {
    client: new Client({
      connection: native,
      namespace,
      dataConverter,
      // Temporal gives an eager start to this process even if its build isn't the current one.
      interceptors: {
        workflow: [startTracedWorkflows, ...(config.WORKER_DEPLOYMENT === undefined ? [startEagerly] : [])],
      },
    }),
    native,
    dataConverter,
    close: () => native.close(),
  };
}

function logFailure(error: unknown): void {
  logger.warn({ err: error, address: config.TEMPORAL_ADDRESS }, 'Temporal not reachable; will retry');
}

/** For a command that connects: says that it waits, with its first attempt to fail. */
export function sayOnce(): () => void {
  let said = false;
  return () => {
    if (!said) console.error(`Waiting for Temporal at ${config.TEMPORAL_ADDRESS} …`);
    said = true;
  };
}
