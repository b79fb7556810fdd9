import { createServer, type AddressInfo } from 'node:net';
import { config, identity, logger } from '@postroom/platform';
import { DefaultLogger, Runtime, type RuntimeOptions } from '@temporalio/worker';
import { temporalLog } from './temporal-log.ts';

/** Temporal's SDK collects metrics outside this process's registry. */
export interface TemporalRuntime {
  /** They are read here, in Prometheus' text format; undefined if nothing serves them. */
  readMetrics: (() => Promise<string>) | undefined;
}

/**
 * Installs Temporal's runtime: its logs, including those of its native core, go to our logger, and its metrics to a port of
 * this machine if `ADMIN_PORT` serves metrics. Call it before any connection is made.
 */
export async function installRuntime(): Promise<TemporalRuntime> {
  const bindAddress = config.ADMIN_PORT === undefined ? undefined : `127.0.0.1:${await freePort()}`;
  Runtime.install({
    logger: temporalLogger(),
    shutdownSignals: [],
    telemetryOptions: {
      logging: { filter: { core: 'INFO', other: 'WARN' }, forward: {} },
      ...(bindAddress === undefined ? {} : { metrics: metricsAt(bindAddress) }),
    },
  });
  if (bindAddress === undefined) return { readMetrics: undefined };
  return {
    readMetrics: async () => {
      const response = await fetch(`http://${bindAddress}/metrics`, { signal: AbortSignal.timeout(3_000) });
      if (!response.ok) throw new Error(`Temporal's metrics: status ${response.status}`);
      return response.text();
    },
  };
}

/** Names and units as Prometheus has them. */
const metricsAt = (bindAddress: string): NonNullable<NonNullable<RuntimeOptions['telemetryOptions']>['metrics']> => ({
  prometheus: { bindAddress, countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true },
  globalTags: { program: identity.service },
});

/** The SDK cannot report a port that it was left to choose. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function temporalLogger(): DefaultLogger {
  const lineOf = temporalLog(() => performance.now());
  return new DefaultLogger('INFO', (entry) => {
    const { level, fields } = lineOf(entry);
    logger[level](fields, entry.message);
  });
}
