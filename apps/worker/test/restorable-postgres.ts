import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, run, startPostgres } from '@postroom/embedded';
import { eventually } from '@postroom/testkit';
import { execute } from '@postroom/testkit/database';
import { expect } from 'vitest';
import { addFile, backUp } from './base-backup.ts';

/** A separate PostgreSQL server that archives its WAL and can be replaced by an earlier state of itself. */
export interface RestorablePostgres {
  url: string;
  /** A base backup of the running server. */
  backUp: () => Promise<void>;
  /** Copies the data of the server, which stops for it: what a snapshot of its disk holds. */
  copyDisk: () => Promise<void>;
  /** Replaces the server by the base backup, recovered to a time. */
  recoverTo: (time: string) => Promise<void>;
  /** Replaces the server by the copied data. */
  returnToCopy: () => Promise<void>;
  stop: () => Promise<void>;
}

export async function startRestorablePostgres(): Promise<RestorablePostgres> {
  const root = mkdtempSync(join(tmpdir(), 'postroom-restore-'));
  chmodSync(root, 0o711); // for PostgreSQL's own user, when root runs the tests
  const [folder, backup, copy, archive] = ['data', 'backup', 'copy', 'archive'].map((name) => join(root, name)) as [
    string,
    string,
    string,
    string,
  ];
  mkdirSync(archive);
  chmodSync(archive, 0o777);
  const [port = 0] = await freePorts(1);
  const start = () => startPostgres(run, { folder, port, logFile: join(root, 'postgres.log') });
  let server = await start();
  const query = (text: string) => execute(server.url, text);
  const replaceBy = async (other: string, change: () => void = () => {}) => {
    await server.stop();
    rmSync(folder, { recursive: true });
    execFileSync('cp', ['-a', other, folder]);
    change();
    server = await start();
    await eventually(
      async () =>
        expect(await query('SELECT pg_is_in_recovery() AS is_recovering')).toEqual([{ is_recovering: false }]),
      30_000,
    );
  };

  await query('ALTER SYSTEM SET archive_mode = on');
  await query(`ALTER SYSTEM SET archive_command = 'test ! -f ${archive}/%f && cp %p ${archive}/%f'`);
  await server.stop();
  server = await start();
  return {
    url: server.url,
    backUp: () => backUp({ url: server.url, folder }, backup),
    copyDisk: async () => {
      await server.stop();
      rmSync(copy, { recursive: true, force: true });
      execFileSync('cp', ['-a', folder, copy]);
      server = await start();
    },
    recoverTo: async (time) => {
      const [file] = await query('SELECT pg_walfile_name(pg_current_wal_lsn()) AS name');
      await query('SELECT pg_switch_wal()');
      const archived = `SELECT last_archived_wal >= '${file?.['name']}' AS "isArchived" FROM pg_stat_archiver`;
      await eventually(async () => expect(await query(archived)).toEqual([{ isArchived: true }]), 30_000);
      await replaceBy(backup, () => {
        appendFileSync(
          join(folder, 'postgresql.auto.conf'),
          `restore_command = 'cp ${archive}/%f %p'\nrecovery_target_time = '${time}'\nrecovery_target_action = 'promote'\narchive_mode = off\n`,
        );
        addFile(folder, 'recovery.signal');
      });
    },
    returnToCopy: () => replaceBy(copy),
    stop: async () => {
      await server.stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
