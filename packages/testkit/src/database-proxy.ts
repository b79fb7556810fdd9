import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A statement that a program sends to PostgreSQL, including BEGIN and COMMIT. */
export interface ProxiedStatement {
  /** Its position since the last `watch`, from 1. */
  number: number;
  /** Its SQL; for a prepared statement, the SQL it was prepared with. */
  text: string;
}

/**
 * What happens to a statement instead of a normal reply:
 * - `request-lost`: the connection breaks before the server receives it.
 * - `reply-lost`: the connection breaks after the server has executed it.
 * - `delayed`: the connection breaks at once, and the server executes it `DELAY_MS` later, like a packet still in the network.
 * - `blocked`: the server never receives it, and the program waits, so that a test can kill it.
 * - `reply-blocked`: the server executes it, and the program waits for the reply.
 */
export type DatabaseFault = 'request-lost' | 'reply-lost' | 'delayed' | 'blocked' | 'reply-blocked';

export const DELAY_MS = 700;

/** A proxy to PostgreSQL that injects faults. */
export interface DatabaseProxy {
  /** For DATABASE_URL. */
  url: string;
  /** Restarts the count and sets the rule that decides about each statement; undefined lets it pass. */
  watch: (rule: (statement: ProxiedStatement) => DatabaseFault | undefined) => void;
  /** Resolves when a statement is blocked, or its reply is. */
  blocked: () => Promise<ProxiedStatement>;
  close: () => Promise<void>;
}

/** Starts a proxy to the server at a URL. */
export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let count = 0;
  let rule: (statement: ProxiedStatement) => DatabaseFault | undefined = () => undefined;
  let blocked = Promise.withResolvers<ProxiedStatement>();
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
    link.onBlocked = (statement) => blocked.resolve(statement);
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
      blocked = Promise.withResolvers();
    },
    blocked: () => blocked.promise,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const ZERO = 0;
const letter = (text: string) => text.charCodeAt(0);

type Ask = (text: string) => { statement: ProxiedStatement; fault: DatabaseFault | undefined };

/** One connection. Parses only as much of the protocol (version 3) as it takes to tell statements apart. */
class Link {
  onBlocked: (statement: ProxiedStatement) => void = () => {};
  readonly #program: Socket;
  readonly #database: Socket;
  readonly #ask: Ask;
  /** The SQL of prepared statements, by name. */
  readonly #prepared = new Map<string, string>();
  #fromProgram: Buffer = Buffer.alloc(0);
  #fromDatabase: Buffer = Buffer.alloc(0);
  #isStarted = false;
  /** Messages of the statement being received. */
  #messages: Buffer[] = [];
  #text = '';
  /** Called once the server has executed the statement; until then its output is buffered. */
  #onExecuted: (() => void) | undefined;
  /** Whether the connection to the server outlives the program's, because a statement is still to be executed. */
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
      // The startup message has no type byte before its length.
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
    if (kind === letter('p') || kind === letter('X')) return void this.#database.write(message); // password, terminate
    this.#messages.push(message);
    if (kind === letter('P')) {
      const [name, text] = strings(message.subarray(5), 2);
      this.#prepared.set(name ?? '', text ?? '');
      this.#text = text ?? '';
    } else if (kind === letter('B')) this.#text = this.#prepared.get(strings(message.subarray(5), 2)[1] ?? '') ?? '';
    else if (kind === letter('Q')) this.#text = strings(message.subarray(5), 1)[0] ?? '';
    if (kind !== letter('Q') && kind !== letter('S')) return;
    const statement = Buffer.concat(this.#messages);
    this.#messages = [];
    this.#give(statement, this.#ask(this.#text));
  }

  #give(bytes: Buffer, { statement, fault }: ReturnType<Ask>): void {
    if (fault === 'request-lost') return void this.#program.destroy();
    if (fault === 'blocked') return this.onBlocked(statement);
    if (fault === 'reply-blocked') this.#onExecuted = () => this.onBlocked(statement);
    else if (fault !== undefined) {
      this.#outlives = true;
      this.#onExecuted = () => {
        this.#program.destroy();
        this.#database.destroy();
      };
    }
    if (fault !== 'delayed') return void this.#database.write(bytes);
    this.#program.destroy();
    setTimeout(() => this.#database.write(bytes), DELAY_MS);
  }

  #onDatabase(chunk: Buffer): void {
    if (this.#onExecuted === undefined) return void this.#program.write(chunk);
    this.#fromDatabase = Buffer.concat([this.#fromDatabase, chunk]);
    while (this.#fromDatabase.length >= 5) {
      const end = 1 + this.#fromDatabase.readUInt32BE(1);
      if (this.#fromDatabase.length < end) return;
      const isReady = this.#fromDatabase[0] === letter('Z');
      this.#fromDatabase = this.#fromDatabase.subarray(end);
      if (isReady) this.#onExecuted();
    }
  }
}

/** The first zero-terminated strings of a message. */
function strings(bytes: Buffer, count: number): string[] {
  const found: string[] = [];
  for (let from = 0; found.length < count;) {
    const end = bytes.indexOf(ZERO, from);
    if (end === -1) return found;
    found.push(bytes.toString('utf8', from, end));
    from = end + 1;
  }
  return found;
}
