import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

/** Copies the data of a running server, which has to be recovered before it can be used. */
export async function backUp({ url, folder }: { url: string; folder: string }, to: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`SELECT pg_backup_start('test', true)`);
  // Files may disappear while they are copied; the WAL has what matters.
  execFileSync('sh', ['-c', `cp -a ${folder} ${to} 2>/dev/null || true`]);
  const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)');
  await client.end();
  writeFileSync(join(to, 'backup_label'), rows[0].labelfile);
  rmSync(join(to, 'postmaster.pid'), { force: true });
  execFileSync('sh', ['-c', `rm -rf ${to}/pg_wal/* && mkdir ${to}/pg_wal/archive_status`]);
  execFileSync('chown', ['-R', '--reference', folder, to]);
}

/** Makes a file in the data of a server that belongs to its user. */
export function addFile(folder: string, name: string): void {
  const file = join(folder, name);
  writeFileSync(file, '');
  execFileSync('chown', ['--reference', join(folder, 'PG_VERSION'), file]);
}
