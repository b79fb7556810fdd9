import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A statement that a program sends to PostgreSQL, including BEGIN and COMMIT. */
export interface ProxiedStatement {
  /** Which it is since the last `watch`; the first is 1. */
  number: number;
  /** Its SQL, also when the program names a statement that it has prepared before. */
  text: string;
}

/**
 * What becomes of a statement instead of an answer. `lost`: the connection breaks before the server has it. `unheard`: it
 * breaks when the server has done it, before the program hears so. `late`: it breaks at once, and the server does it
 * `LATE_MS` later all the same, as with what a network had in flight. The program waits, so that a test can kill it, with
 * `kept`, which the server never gets, and with `held`, when the server has done it.
 */
export type DatabaseFault = 'lost' | 'unheard' | 'late' | 'kept' | 'held';

export const LATE_MS = 700;

/** A way to PostgreSQL that breaks where a test wants it. */
export interface DatabaseProxy {
  /** For DATABASE_URL. */
  url: string;
  /** Counts from here on, and asks for each statement what becomes of it; undefined lets it pass. */
  watch: (rule: (statement: ProxiedStatement) => DatabaseFault | undefined) => void;
  /** Resolves when a statement is kept, or the server has done one that is held. */
  holding: () => Promise<ProxiedStatement>;
  close: () => Promise<void>;
}

/** Starts a proxy to the server of a URL. */
export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let count = 0;
  let rule: (statement: ProxiedStatement) => DatabaseFault | undefined = () => undefined;
  let held = Promise.withResolvers<ProxiedStatement>();
  const server = createServer((program) => {
    const database = connect(Number(target.port || 5432), target.hostname);
    for (const socket of [program, database]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
    const link = new Link(program, database, (text) => {
      const statement = { number: ++count, text };
      return { statement, fault: rule(statement) };
    });
    link.onHeld = (statement) => held.resolve(statement);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    watch: (next) => {
      count = 0;
      rule = next;
      held = Promise.withResolvers();
    },
    holding: () => held.promise,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const TERMINATOR = 0;
const letter = (text: string) => text.charCodeAt(0);

type Ask = (text: string) => { statement: ProxiedStatement; fault: DatabaseFault | undefined };

/** One connection. It reads only as much of the protocol (version 3) as tells where a statement ends and what it is. */
class Link {
  onHeld: (statement: ProxiedStatement) => void = () => {};
  readonly #program: Socket;
  readonly #database: Socket;
  readonly #ask: Ask;
  /** What the program has prepared, by name. */
  readonly #prepared = new Map<string, string>();
  #fromProgram: Buffer = Buffer.alloc(0);
  #fromDatabase: Buffer = Buffer.alloc(0);
  #isStarted = false;
  /** Messages of the statement that is being taken in. */
  #messages: Buffer[] = [];
  #text = '';
  /** Called when the server has done what it was given; its answer is not passed on meanwhile. */
  #whenDone: (() => void) | undefined;
  /** Whether the server's end stays open without the program's: it still has something to do. */
  #outlives = false;

  constructor(program: Socket, database: Socket, ask: Ask) {
    this.#program = program;
    this.#database = database;
    this.#ask = ask;
    program.on('data', (chunk) => this.#onProgram(chunk));
    database.on('data', (chunk) => this.#onDatabase(chunk));
    program.on('close', () => this.#outlives || database.destroy());
    database.on('close', () => program.destroy());
  }

  #onProgram(chunk: Buffer): void {
    this.#fromProgram = Buffer.concat([this.#fromProgram, chunk]);
    for (;;) {
      // The first message has no letter before its length.
      const lengthAt = this.#isStarted ? 1 : 0;
      if (this.#fromProgram.length < lengthAt + 4) return;
      const end = lengthAt + this.#fromProgram.readUInt32BE(lengthAt);
      if (this.#fromProgram.length < end) return;
      const message = this.#fromProgram.subarray(0, end);
      this.#fromProgram = this.#fromProgram.subarray(end);
      if (this.#isStarted) this.#onMessage(message);
      else this.#database.write(message);
      this.#isStarted = true;
    }
  }

  #onMessage(message: Buffer): void {
    const kind = message[0];
    if (kind === letter('p') || kind === letter('X')) return void this.#database.write(message); // signing in, goodbye
    this.#messages.push(message);
    if (kind === letter('P')) {
      const [name, text] = texts(message.subarray(5), 2);
      this.#prepared.set(name ?? '', text ?? '');
      this.#text = text ?? '';
    } else if (kind === letter('B')) this.#text = this.#prepared.get(texts(message.subarray(5), 2)[1] ?? '') ?? '';
    else if (kind === letter('Q')) this.#text = texts(message.subarray(5), 1)[0] ?? '';
    if (kind !== letter('Q') && kind !== letter('S')) return;
    const statement = Buffer.concat(this.#messages);
    this.#messages = [];
    this.#give(statement, this.#ask(this.#text));
  }

  #give(bytes: Buffer, { statement, fault }: ReturnType<Ask>): void {
    if (fault === 'lost') return void this.#program.destroy();
    if (fault === 'kept') return this.onHeld(statement);
    if (fault === 'held') this.#whenDone = () => this.onHeld(statement);
    else if (fault !== undefined) {
      this.#outlives = true;
      this.#whenDone = () => {
        this.#program.destroy();
        this.#database.destroy();
      };
    }
    if (fault !== 'late') return void this.#database.write(bytes);
    this.#program.destroy();
    setTimeout(() => this.#database.write(bytes), LATE_MS);
  }

  #onDatabase(chunk: Buffer): void {
    if (this.#whenDone === undefined) return void this.#program.write(chunk);
    this.#fromDatabase = Buffer.concat([this.#fromDatabase, chunk]);
    while (this.#fromDatabase.length >= 5) {
      const end = 1 + this.#fromDatabase.readUInt32BE(1);
      if (this.#fromDatabase.length < end) return;
      const isReady = this.#fromDatabase[0] === letter('Z');
      this.#fromDatabase = this.#fromDatabase.subarray(end);
      if (isReady) this.#whenDone();
    }
  }
}

/** The first texts of a message, each of which ends with a zero. */
function texts(bytes: Buffer, count: number): string[] {
  const found: string[] = [];
  for (let from = 0; found.length < count;) {
    const end = bytes.indexOf(TERMINATOR, from);
    if (end === -1) return found;
    found.push(bytes.toString('utf8', from, end));
    from = end + 1;
  }
  return found;
}
