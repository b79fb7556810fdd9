import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { logger } from '@postroom/platform';
import type { SendJournal } from '@postroom/smtp';
import type { Settlement } from './settlement.ts';
import type { ClaimKey } from './claim.ts';

/**
 * What one claim has on the wire, in a file that outlives the process. A message whose last octet the journal does not announce
 * was certainly not sent. Page cache suffices, since the file counts only until the machine restarts.
 */
export interface InFlightJournal extends SendJournal {
  /** Notes the outcome of a message, which the ledger does not have yet. */
  answered(settlement: Settlement): void;
  /** Ends the journal. It is kept only if the ledger lacks outcomes. */
  close(options: { isRecorded: boolean }): void;
}

/** The journal of a claim that will send nothing more. */
export interface EndedJournal extends ClaimKey {
  /** Messages whose last octet may have been written. */
  written: ReadonlySet<string>;
  /** Outcomes that the ledger may lack, by message. */
  answered: ReadonlyMap<string, Settlement>;
}

const VERSION = 1;
const SUFFIX = '.journal';

interface Header extends ClaimKey {
  version: number;
  boot: string;
}

interface Home {
  folder: string;
  /** Names this process. While it runs, it listens on the socket of that name. */
  owner: string;
  boot: string;
  server: Server;
}

let home: Home | undefined;

/**
 * Keeps journals in a folder from now on. Without it nothing is known of a killed process's messages, and all of its claims
 * become unknown; so a folder that can't be used is only a warning.
 */
export async function openInFlightJournals(folder: string): Promise<void> {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const owner = randomBytes(6).toString('base64url');
    const server = createServer((socket) => socket.destroy()).unref();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(socketOf(folder, owner), resolve);
    });
    home = { folder, owner, boot: readBoot(), server };
  } catch (error) {
    logger.warn({ err: error, folder }, 'IN_FLIGHT_JOURNAL cannot be used: after a kill, claimed messages are unknown');
  }
}

/** Whether this process has a folder for journals. */
export const keepsJournals = (): boolean => home !== undefined;

/** Call it when nothing is being sent. */
export async function closeInFlightJournals(): Promise<void> {
  const closing = home?.server;
  home = undefined;
  await new Promise((resolve) => (closing === undefined ? resolve(undefined) : closing.close(resolve)));
}

/** Identifies the current run of the machine's kernel, since a crash of the machine loses what is in the page cache. */
const readBoot = () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();

/** How the names of a claim's journals end, after their owner. A claim of transactional mail contains a slash. */
const endOfName = (claim: string) => `.${encodeURIComponent(claim)}${SUFFIX}`;

const socketOf = (folder: string, owner: string) => join(folder, `${owner}.sock`);

/** Opens the journal of a claim; must be called before its first message is claimed. Keeps none without a folder. */
export function openInFlightJournal(key: ClaimKey): InFlightJournal {
  if (home === undefined) return NO_JOURNAL;
  const { folder, owner, boot } = home;
  const path = join(folder, owner + endOfName(key.claim));
  try {
    const file = openSync(path, 'ax', 0o600);
    return new FileJournal(path, file, { version: VERSION, boot, ...key });
  } catch (error) {
    warnUnwritable(error, path);
    return NO_JOURNAL;
  }
}

const NO_JOURNAL: InFlightJournal = { writing: () => {}, flush: () => {}, answered: () => {}, close: () => {} };

const warnUnwritable = (error: unknown, path: string) =>
  logger.warn({ err: error, path }, 'journal not written: after a kill, the messages of this claim are unknown');

/** One line per note: the header, `W` and an id, `R` and a settlement, and at the end `E`. */
class FileJournal implements InFlightJournal {
  readonly #path: string;
  #file: number | undefined;
  #queued = '';
  #isFlushScheduled = false;

  constructor(path: string, file: number, header: Header) {
    this.#path = path;
    this.#file = file;
    this.#queued = `${JSON.stringify(header)}\n`;
    this.flush();
  }

  writing(messageId: string): void {
    this.#queued += `W ${messageId}\n`;
  }

  answered(settlement: Settlement): void {
    this.#queued += `R ${JSON.stringify(settlement)}\n`;
    if (this.#isFlushScheduled) return;
    // Usually the next message is written first, and stores this as well.
    this.#isFlushScheduled = true;
    setImmediate(() => {
      this.#isFlushScheduled = false;
      this.flush();
    });
  }

  flush(): void {
    if (this.#queued === '') return;
    const bytes = Buffer.from(this.#queued);
    this.#queued = '';
    try {
      for (let at = 0; this.#file !== undefined && at < bytes.length;) at += writeSync(this.#file, bytes, at);
    } catch (error) {
      this.#discard(error);
    }
  }

  close({ isRecorded }: { isRecorded: boolean }): void {
    if (this.#file === undefined) return;
    if (isRecorded) {
      this.#queued = '';
      this.#remove();
    } else {
      this.#queued += 'E\n';
      this.flush();
      this.#closeFile();
    }
  }

  /** The disk is full, for example. After a kill, a claim without a journal leaves its messages unknown; an incomplete one would have them sent twice. */
  #discard(error: unknown): void {
    warnUnwritable(error, this.#path);
    try {
      this.#remove();
    } catch (second) {
      // So far the file is complete, and remains so if this process sends nothing more.
      logger.fatal({ err: second, path: this.#path }, 'an incomplete journal could not be removed');
      process.exit(1);
    }
  }

  #remove(): void {
    rmSync(this.#path, { force: true });
    this.#closeFile();
  }

  #closeFile(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}

/** The journal of a claim; undefined if there is none, or if it may still be written. */
export async function readEndedJournal(claim: string): Promise<EndedJournal | undefined> {
  const name = entries(endOfName(claim))[0];
  return name === undefined ? undefined : readEnded(name);
}

/** The journals of claims that will send nothing more, of any process that used the folder. */
export async function readEndedJournals(): Promise<EndedJournal[]> {
  const journals = await Promise.all(entries(SUFFIX).map(readEnded));
  return journals.filter((journal) => journal !== undefined);
}

/** Removes the journal of a claim, once its messages are settled. */
export function removeJournal(claim: string): void {
  for (const name of entries(endOfName(claim))) remove(name);
}

/** Removes what is of no use to anyone: journals from before the machine was restarted, and sockets of dead processes without journals. */
export async function removeLeftovers(): Promise<void> {
  for (const name of entries(SUFFIX))
    if (parse(read(name)) === undefined && (await probe(ownerOf(name))) !== 'running') remove(name);
  const owners = new Set(entries(SUFFIX).map(ownerOf));
  for (const name of entries('.sock'))
    if (!owners.has(ownerOf(name)) && (await probe(ownerOf(name))) === 'dead') remove(name);
}

const entries = (suffix: string): string[] =>
  home === undefined ? [] : readdirSync(home.folder).filter((name) => name.endsWith(suffix));

const ownerOf = (name: string) => name.slice(0, name.indexOf('.'));

async function readEnded(name: string): Promise<EndedJournal | undefined> {
  // Only what is read after the process has died is all that it wrote.
  const isDead = (await probe(ownerOf(name))) === 'dead';
  const journal = parse(read(name));
  return journal !== undefined && (isDead || journal.isEnded) ? journal : undefined;
}

/**
 * The kernel refuses connections to the socket of a process that has died, in whichever container it ran. A process without a socket
 * may be running, since anyone can delete files.
 */
function probe(owner: string): Promise<'running' | 'dead' | 'unknown'> {
  if (home === undefined) return Promise.resolve('unknown');
  const socket = connect(socketOf(home.folder, owner));
  return new Promise((resolve) => {
    socket.once('connect', () => resolve('running'));
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED' ? 'dead' : 'unknown'));
  }).finally(() => socket.destroy()) as Promise<'running' | 'dead' | 'unknown'>;
}

/** Empty if another process has removed it. */
function read(name: string): string {
  try {
    return readFileSync(join(home?.folder ?? '', name), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

const remove = (name: string) => rmSync(join(home?.folder ?? '', name), { force: true });

/**
 * Parses a journal of this machine since its last restart; undefined for any other. A line that a kill cut off is ignored: notes are
 * stored before the message is written.
 */
function parse(text: string): (EndedJournal & { isEnded: boolean }) | undefined {
  const [first = '', ...notes] = text.split('\n').slice(0, -1);
  try {
    const { version, boot, claim, scope, epoch } = JSON.parse(first) as Header;
    if (version !== VERSION || boot !== home?.boot) return undefined;
    const written = new Set<string>();
    const answered = new Map<string, Settlement>();
    let isEnded = false;
    for (const note of notes) {
      const content = note.slice(2);
      if (note.startsWith('W ')) written.add(content);
      else if (note.startsWith('R ')) {
        const settlement = JSON.parse(content) as Settlement;
        answered.set(settlement.id, settlement);
      } else if (note === 'E') isEnded = true;
      else return undefined;
    }
    return { claim, scope, epoch, written, answered, isEnded };
  } catch {
    return undefined;
  }
}
