import { Client } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection } from '@temporalio/worker';
import { config, exponentialDelays, logger, retry } from '@postroom/platform';
import { startEagerly } from '@postroom/platform/dispatcher';

export interface TemporalConnections {
  client: Client;
  native: NativeConnection;
  close: () => Promise<void>;
}

/**
 * Connects to Temporal as the environment configures it: the SDK's own variables (`TEMPORAL_ADDRESS`,
 * `TEMPORAL_API_KEY`, `TEMPORAL_TLS_…`, profiles in a file) with our defaults. Waits for a server that is not up
 * yet.
 */
export async function connectTemporal(signal: AbortSignal): Promise<TemporalConnections> {
  const fromEnvironment = loadClientConnectConfig();
  const options = { address: config.TEMPORAL_ADDRESS, ...fromEnvironment.connectionOptions };
  const namespace = fromEnvironment.namespace ?? config.TEMPORAL_NAMESPACE;
  const native = await retry(() => NativeConnection.connect(options), {
    delaysMs: exponentialDelays(250, 5_000),
    isRetryable: () => !signal.aborted,
    onFailure: (error) =>
      logger.warn({ err: error, address: config.TEMPORAL_ADDRESS }, 'Temporal not reachable; will retry'),
  });
  return {
    client: new Client({ connection: native, namespace, interceptors: { workflow: [startEagerly] } }),
    native,
    close: () => native.close(),
  };
}
