import { dirname } from 'node:path';
import { freePorts, hiddenAddress, HOST } from './ports.ts';
import { type Start, startGuarded } from './programs.ts';
import { startUiProxy, type UiAddress } from './ui-proxy.ts';

/** The namespace's keyword search attributes; keep in sync with `SEARCH_ATTRIBUTES` in @postroom/temporal. */
export const SEARCH_ATTRIBUTES = ['projectId', 'campaignId', 'endpointId', 'eventType', 'deliveryStatus'];

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 10_000;

export interface TemporalOptions {
  /** Path of the `temporal` binary. */
  binary: string;
  port: number;
  uiPort: number;
  /** Where it serves its metrics; nowhere by default. */
  metricsPort?: number;
  /** Where workflow histories are stored; without it they are lost on exit. */
  databaseFile?: string;
  logFile: string;
  runFile?: string;
  /** A folder to remove after the server has exited, for whatever reason. */
  removeAfter?: string;
  /** More of its dynamic settings, each as `key=value`. */
  dynamicConfig?: readonly string[];
}

/**
 * Starts Temporal's development server with its Web UI, on 127.0.0.1 only.
 * @throws StartError when it does not start.
 */
export async function startTemporal(start: Start, options: TemporalOptions) {
  const { logFile, runFile, port, uiPort } = options;
  const ui = { host: await hiddenAddress(), port: (await freePorts(1))[0] ?? 0 };
  const { stop } = await start({
    title: 'Temporal',
    logFile,
    runFile,
    start: () =>
      startGuarded({
        command: options.binary,
        args: serverArguments(options, ui),
        folder: dirname(logFile),
        // In memory, it lives as long as a test run, and may use memory instead of collecting garbage.
        env: options.databaseFile === undefined ? { GOGC: '400' } : {},
        logFile,
        stopSignal: 'SIGTERM',
        stopTimeoutMs: STOP_TIMEOUT_MS,
        removeAfter: options.removeAfter,
      }),
    isReady: () => isReady(`http://${ui.host}:${ui.port}`),
    startTimeoutMs: START_TIMEOUT_MS,
    stopTimeoutMs: STOP_TIMEOUT_MS,
  });
  const proxy = await startUiProxy(uiPort, ui);
  return {
    address: `${HOST}:${port}`,
    uiUrl: `http://${HOST}:${uiPort}`,
    stop: async () => {
      proxy.close();
      proxy.closeAllConnections();
      await stop();
    },
  };
}

function serverArguments(
  { port, metricsPort, databaseFile, dynamicConfig = [] }: TemporalOptions,
  ui: UiAddress,
): string[] {
  const options = [
    ['--ip', HOST],
    ['--port', String(port)],
    ['--ui-ip', ui.host],
    ['--ui-port', String(ui.port)],
    ['--log-level', 'warn'],
    ...SEARCH_ATTRIBUTES.map((name) => ['--search-attribute', `${name}=Keyword`]),
    ...(metricsPort === undefined ? [] : [['--metrics-port', String(metricsPort)]]),
    ...(databaseFile === undefined ? [] : [['--db-filename', databaseFile]]),
    // Measured: without these two, a file database takes a tenth of the load before it collapses.
    ['--sqlite-pragma', 'journal_mode=WAL'],
    ['--sqlite-pragma', 'synchronous=1'],
    // An activity goes to the worker in the answer that asks for it, which saves its trip through a task queue.
    ['--dynamic-config-value', 'system.enableActivityEagerExecution=true'],
    // Its HTTP API is unused, and would accept requests for any host.
    ['--dynamic-config-value', 'frontend.httpAllowedHosts=["127.0.0.1","localhost"]'],
    ...dynamicConfig.map((setting) => ['--dynamic-config-value', setting]),
  ];
  return ['server', 'start-dev', ...options.flat()];
}

/** The UI asks the server itself, so an answer means that both are there, and the namespace too. */
async function isReady(uiUrl: string): Promise<boolean> {
  try {
    const reply = await fetch(`${uiUrl}/api/v1/namespaces/default`, { signal: AbortSignal.timeout(5000) });
    return reply.ok;
  } catch {
    return false;
  }
}
