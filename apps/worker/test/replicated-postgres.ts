import { appendFileSync, chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, run, signal, startPostgres } from '@postroom/embedded';
import { migrate } from '@postroom/migrations';
import { eventually, startBreakableProxy } from '@postroom/testkit';
import { execute } from '@postroom/testkit/database';
import { expect } from 'vitest';
import { addFile, backUp } from './base-backup.ts';

/** PostgreSQL servers of which one is the primary, behind a proxy that leads programs to it. */
export interface ReplicatedPostgres {
  /** Of the proxy. */
  url: string;
  /** Past the proxy. */
  primaryUrl: () => string;
  /** Starts an asynchronous standby of the primary. */
  addStandby: () => Promise<void>;
  /** Waits until the standby has everything that was committed. */
  catchUp: () => Promise<void>;
  /** From now on the standby receives nothing. */
  cutStandby: () => void;
  /** Makes the standby the primary. The proxy leads new connections to it, and leaves open ones where they are. */
  promote: () => Promise<void>;
  /** Closes the connections that were open before the promotion. */
  closeOld: () => void;
  /** Sends SIGKILL to the primary, or to that before the promotion. */
  kill: (of?: 'primary' | 'before') => Promise<void>;
  /** Starts the primary before the promotion again, as it was. @returns its URL. */
  restartBefore: () => Promise<string>;
  /** Asks the primary, or that before the promotion, past the proxy. @returns the first row. */
  ask: (text: string, of?: 'primary' | 'before') => Promise<Record<string, unknown> | undefined>;
  stop: () => Promise<void>;
}

interface Server {
  folder: string;
  url: string;
  stop: () => Promise<void>;
}

export async function startReplicatedPostgres(): Promise<ReplicatedPostgres> {
  const root = mkdtempSync(join(tmpdir(), 'postroom-failover-'));
  chmodSync(root, 0o711); // for PostgreSQL's own user, when root runs the tests
  const servers: Server[] = [];
  const folderOf = (number: number) => join(root, `server-${number}`);
  const startIn = async (folder: string): Promise<Server> => {
    const [port = 0] = await freePorts(1);
    const server = { folder, ...(await startPostgres(run, { folder, port, logFile: `${folder}.log` })) };
    servers.push(server);
    return server;
  };
  let primary = await startIn(folderOf(1));
  let [before, standby]: (Server | undefined)[] = [];
  await migrate(primary.url);
  const proxy = await startBreakableProxy(primary.url);
  const replication = await startBreakableProxy(primary.url);
  const known = (server: Server | undefined): Server => {
    if (server === undefined) throw new Error('There is no such server.');
    return server;
  };

  return {
    url: proxy.url,
    primaryUrl: () => primary.url,
    addStandby: async () => {
      const folder = folderOf(servers.length + 1);
      await backUp(primary, folder);
      copyFileSync(`${primary.folder}.password`, `${folder}.password`);
      replication.pointTo(primary.url);
      replication.restore();
      const { hostname, port, username, password } = new URL(replication.url);
      const from = `host=${hostname} port=${port} user=${username} password=${password}`;
      appendFileSync(join(folder, 'postgresql.auto.conf'), `primary_conninfo = '${from}'\n`);
      addFile(folder, 'standby.signal');
      standby = await startIn(folder);
    },
    catchUp: async () => {
      const { url } = known(standby);
      const [flushed] = await execute(primary.url, 'SELECT pg_current_wal_flush_lsn()::text AS lsn');
      const behind = `SELECT pg_wal_lsn_diff($1, pg_last_wal_replay_lsn()) <= 0 AS "hasAll"`;
      await eventually(
        async () => expect(await execute(url, behind, [flushed?.['lsn']])).toEqual([{ hasAll: true }]),
        30_000,
      );
    },
    cutStandby: () => replication.break(),
    promote: async () => {
      [before, primary, standby] = [primary, known(standby), undefined];
      await execute(primary.url, 'SELECT pg_promote()');
      proxy.pointTo(primary.url);
    },
    closeOld: () => {
      proxy.break();
      proxy.restore();
    },
    kill: async (of = 'primary') => {
      const { folder, stop } = of === 'primary' ? primary : known(before);
      signal(Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[0]), 'SIGKILL');
      await stop();
    },
    restartBefore: async () => {
      before = await startIn(known(before).folder);
      return before.url;
    },
    ask: async (text, of = 'primary') => (await execute(of === 'primary' ? primary.url : known(before).url, text))[0],
    stop: async () => {
      proxy.close();
      replication.close();
      await Promise.all(servers.map((server) => server.stop()));
      rmSync(root, { recursive: true, force: true });
    },
  };
}
