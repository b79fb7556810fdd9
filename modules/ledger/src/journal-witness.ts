import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { latestOf, type Reservation, SupersededError, type Witness } from './witness.ts';

/**
 * A folder as a witness, on another disk than the database's. Each process appends to a separate file, one JSON object a line. An empty
 * file stands for each epoch that began after a restore. A process that begins one makes its file before it reads the others, and one that reserves looks for it
 * after writing to its own, so that one of them sees what the other has written.
 */
export function journalWitness(folder: string): Witness {
  let file: Promise<FileHandle> | undefined;
  const openFile = () => {
    mkdirSync(folder, { recursive: true });
    return open(join(folder, `${hostname()}-${Date.now()}-${process.pid}.jsonl`), 'a');
  };
  /** Each epoch follows the one before, except those that began without the folder. */
  const fileOf = (epoch: number) => join(folder, `epoch-${epoch}`);
  const append = async (reservations: readonly Reservation[]) => {
    const opened = (file ??= openFile());
    try {
      const handle = await opened;
      // Begins with a line break, because a full disk may have cut off the previous line.
      await handle.appendFile(`\n${reservations.map((reservation) => JSON.stringify(reservation)).join('\n')}\n`);
      await handle.datasync();
    } catch (error) {
      // The next call opens a new file: by then, the folder may have been repaired or mounted again.
      if (file === opened) file = undefined;
      await opened.then((handle) => handle.close()).catch(() => {});
      throw error;
    }
  };
  const checkEpoch = async (epoch: number) => {
    if (existsSync(fileOf(epoch + 1))) throw new SupersededError(epoch);
  };
  return {
    name: `journal ${folder}`,
    announce: async (reservations) => {
      await append(reservations);
      await checkEpoch(Math.max(...reservations.map((reservation) => reservation.epoch)));
    },
    checkEpoch,
    beginEpoch: async (first) => {
      mkdirSync(folder, { recursive: true });
      const handle = await open(fileOf(first.epoch), 'w');
      await handle.datasync();
      await handle.close();
      await append([first]);
    },
    read: async () => {
      mkdirSync(folder, { recursive: true });
      const lines = readdirSync(folder)
        .filter((name) => name.endsWith('.jsonl'))
        .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'));
      return latestOf(lines.flatMap(parse));
    },
  };
}

/** A line that a crash cut off was not announced. */
function parse(line: string): Reservation[] {
  try {
    return [JSON.parse(line) as Reservation];
  } catch {
    return [];
  }
}
