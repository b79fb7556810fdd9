/**
 * A Temporal server that stores its data in PostgreSQL, as in production, for the benchmarks that also measure the embedded one.
 * Install its two programs with `go install go.temporal.io/server/cmd/server@v1.32.1` and `…/cmd/tools/sql@v1.32.1`.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '@postroom/embedded';
import { Connection } from '@temporalio/client';
import pg from 'pg';

export interface TemporalServer {
  address: string;
  stop: () => Promise<void>;
}

const SHARDS = 4;
const READY_MS = 60_000;

/** Creates its two databases at `postgresUrl`, starts all of its services in one process, and waits for its namespace. */
export async function startTemporalServer(options: {
  server: string;
  sqlTool: string;
  postgresUrl: string;
  folder: string;
}): Promise<TemporalServer> {
  const { hostname, port, username, password } = new URL(options.postgresUrl);
  const folder = join(options.folder, 'temporal-server');
  mkdirSync(join(folder, 'config'), { recursive: true });
  const databases = { temporal: 'temporal', temporal_visibility: 'visibility' };
  for (const [database, schema] of Object.entries(databases)) {
    const tool = (...args: string[]) =>
      execFileSync(
        options.sqlTool,
        ['--plugin', 'postgres12', '--ep', hostname, '--port', port, '--user', username, '--db', database, ...args],
        { env: { ...process.env, SQL_PASSWORD: decodeURIComponent(password) }, stdio: 'pipe' },
      );
    await createDatabase(options.postgresUrl, database);
    tool('setup-schema', '--version', '0.0');
    tool('update-schema', '--schema-name', `postgresql/v12/${schema}`);
  }
  const ports = await freePorts(9);
  const dynamicFile = join(folder, 'config', 'dynamic.yaml');
  writeFileSync(dynamicFile, JSON.stringify({ 'system.enableActivityEagerExecution': [{ value: true }] }));
  writeFileSync(
    join(folder, 'config', 'bench.yaml'),
    configuration({ hostname, port, username, password }, ports, dynamicFile),
  );
  const log = openSync(join(folder, 'server.log'), 'a');
  const child = spawn(options.server, ['--root', folder, '--config', 'config', '--env', 'bench', 'start'], {
    stdio: ['ignore', log, log],
  });
  const address = `127.0.0.1:${ports[0]}`;
  try {
    await readyNamespace(address);
  } catch (error) {
    child.kill('SIGKILL');
    throw new Error(`The Temporal server did not start: see ${folder}/server.log.`, { cause: error });
  }
  return {
    address,
    stop: async () => {
      const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      child.kill('SIGTERM');
      await Promise.race([gone, sleep(10_000).then(() => child.kill('SIGKILL'))]);
    },
  };
}

async function createDatabase(url: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
}

/** Creates the namespace `default` when the server is ready, as the embedded server does. */
async function readyNamespace(address: string): Promise<void> {
  const workflowExecutionRetentionPeriod = { seconds: 86_400 } as never;
  for (const deadline = Date.now() + READY_MS; ; await sleep(250)) {
    try {
      const connection = await Connection.connect({ address, connectTimeout: '2s' });
      await connection.workflowService.registerNamespace({ namespace: 'default', workflowExecutionRetentionPeriod });
      await connection.close();
      await sleep(10_000); // the server reloads its namespaces every ten seconds
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}

function configuration(
  { hostname, port, username, password }: Record<'hostname' | 'port' | 'username' | 'password', string>,
  ports: readonly number[],
  dynamicFile: string,
): string {
  const store = (databaseName: string) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: `${hostname}:${port}`,
      connectProtocol: 'tcp',
      user: username,
      password: decodeURIComponent(password),
      maxConns: 20,
      maxIdleConns: 20,
      maxConnLifetime: '1h',
    },
  });
  const service = (index: number) => ({
    rpc: { grpcPort: ports[index * 2], membershipPort: ports[index * 2 + 1], bindOnIP: '127.0.0.1' },
  });
  // JSON is valid YAML.
  return JSON.stringify({
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: SHARDS,
      datastores: { default: store('temporal'), visibility: store('temporal_visibility') },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services: { frontend: service(0), matching: service(1), history: service(2), worker: service(3) },
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `127.0.0.1:${ports[0]}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: dynamicFile, pollInterval: '1m' },
    publicClient: { hostPort: `127.0.0.1:${ports[0]}` },
  });
}
