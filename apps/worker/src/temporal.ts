import { Client } from '@temporalio/client';
import { NativeConnection, type WorkerOptions } from '@temporalio/worker';
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
export async function connectTemporal(signal: AbortSignal): Promise<TemporalConnections> {
  const { connection, namespace } = temporalSettings(config);
  const native = await retry(() => NativeConnection.connect(connection), {
    delaysMs: exponentialDelays(250, 5_000),
    signal,
    onFailure: (error) =>
      logger.warn({ err: error, address: config.TEMPORAL_ADDRESS }, 'Temporal not reachable; will retry'),
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
