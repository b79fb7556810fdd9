import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { config, exponentialDelays, logger, retry } from '@postroom/platform';
import { startEagerly } from '@postroom/platform/dispatcher';
import { temporalSettings } from '@postroom/platform/temporal-settings';

export interface TemporalConnections {
  client: Client;
  native: NativeConnection;
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
  return {
    client: new Client({
      connection: native,
      namespace,
      // Temporal gives an eager start to this process even if its build isn't the current one.
      interceptors: { workflow: config.WORKER_DEPLOYMENT === undefined ? [startEagerly] : [] },
    }),
    native,
    close: () => native.close(),
  };
}
