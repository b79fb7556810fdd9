import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';

/** Stages that a script can hook. `body`: each chunk of a message; `dot`: its end; `nobody`: the end of a BDAT message without a recipient. */
export type Stage =
  | 'greeting'
  | 'ehlo'
  | 'helo'
  | 'starttls'
  | 'auth'
  | 'mail'
  | 'rcpt'
  | 'data'
  | 'body'
  | 'dot'
  | 'nobody'
  | 'out of turn'
  | 'rset'
  | 'quit';

/** What the server does at a stage: sends a reply (CRLF is added), then optionally ends, resets or falls silent. */
export interface Act {
  readonly reply?: string;
  /** Written verbatim, without a line ending. */
  readonly raw?: string;
  readonly after?: 'end' | 'reset' | 'silence' | 'stop reading';
}

export interface Script {
  readonly offers?: readonly string[];
  readonly tls?: { readonly key: string; readonly cert: string; readonly implicit?: boolean };
  /** Return undefined for the default reply. `nth` counts this stage across all connections, from 0. */
  readonly act?: (stage: Stage, nth: number, line: string) => Act | string | undefined;
  /** Writes one byte at a time. */
  readonly byteByByte?: boolean;
  /** Refuses out-of-sequence commands: MAIL in an open transaction, RCPT without a sender. */
  readonly strict?: boolean;
  /** Pauses between reads. */
  readonly slowly?: boolean;
}

export interface ReceivedMail {
  readonly from: string;
  readonly to: string[];
  /** With dot-stuffing removed, one character per octet. */
  readonly data: string;
  /** The reply to its final dot; undefined if the connection ended instead. */
  answer: string | undefined;
}

const USUAL: Record<Stage, string | undefined> = {
  greeting: '220 test ESMTP',
  ehlo: undefined,
  helo: '250 test',
  starttls: '220 go ahead',
  auth: '235 welcome',
  mail: '250 2.1.0 ok',
  rcpt: '250 2.1.5 ok',
  data: '354 go ahead',
  body: undefined,
  dot: '250 2.0.0 queued',
  nobody: '503 5.5.1 no valid recipients',
  'out of turn': '503 5.5.1 bad sequence of commands',
  rset: '250 2.0.0 ok',
  quit: '221 2.0.0 bye',
};

/** An SMTP server on 127.0.0.1 that misbehaves by script. Only tests import this file. */
export class ScriptedServer implements AsyncDisposable {
  /** Every message whose final dot arrived, whatever the reply. */
  readonly mails: ReceivedMail[] = [];
  /** Every command line, excluding message bodies. */
  readonly commands: string[] = [];
  /** The most commands that arrived together. */
  mostPipelined = 0;
  connections = 0;
  readonly script: Script;
  readonly #counts = new Map<Stage, number>();
  readonly #sockets = new Set<Socket>();
  readonly #server;

  private constructor(script: Script) {
    this.script = script;
    const accept = (socket: Socket) => this.#accept(socket);
    this.#server = script.tls?.implicit ? createTlsServer(script.tls, accept) : createServer(accept);
  }

  static async start(script: Script = {}): Promise<ScriptedServer> {
    const server = new ScriptedServer(script);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `${this.script.tls?.implicit ? 'smtps' : 'smtp'}://127.0.0.1:${this.port}`;
  }

  /** How many connections are open now. */
  get open(): number {
    return this.#sockets.size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** The scripted action for a stage, or the default reply. */
  act(stage: Stage, line: string): Act {
    const nth = this.#counts.get(stage) ?? 0;
    this.#counts.set(stage, nth + 1);
    const said = this.script.act?.(stage, nth, line);
    if (typeof said === 'object') return said;
    const reply = said ?? (stage === 'ehlo' ? this.#hello() : USUAL[stage]);
    return reply === undefined ? {} : { reply };
  }

  #hello(): string {
    const offers = this.script.offers ?? ['PIPELINING', '8BITMIME', 'SMTPUTF8', 'SIZE 50000000'];
    const lines = ['test', ...offers];
    return lines.map((line, i) => `250${i < lines.length - 1 ? '-' : ' '}${line}`).join('\r\n');
  }

  #accept(socket: Socket): void {
    this.connections++;
    socket.setNoDelay(true);
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    new Session(this, socket).greet();
  }
}

class Session {
  readonly #server: ScriptedServer;
  #socket: Socket;
  #unread = '';
  #from = '';
  #isOpen = false;
  #to: string[] = [];
  #inData = false;
  /** Octets of the BDAT chunk still expected; -1 outside a chunk. */
  #chunk = -1;
  #over = false;

  constructor(server: ScriptedServer, socket: Socket) {
    this.#server = server;
    this.#socket = socket;
    this.#listen();
  }

  greet(): void {
    this.#do('greeting', '');
  }

  #listen(): void {
    this.#socket.on('error', () => undefined);
    this.#socket.on('data', (chunk: Buffer) => {
      this.#read(chunk.toString('latin1'));
      if (this.#server.script.slowly) this.#rest();
    });
  }

  #rest(): void {
    this.#socket.pause();
    setTimeout(() => this.#socket.resume(), 1);
  }

  #read(text: string): void {
    if (this.#over) return;
    this.#unread += text;
    if (!this.#inData) {
      this.#server.mostPipelined = Math.max(this.#server.mostPipelined, this.#unread.split('\r\n').length - 1);
    }
    while (!this.#over) {
      if (this.#chunk >= 0) {
        if (this.#do('body', '') || this.#over || this.#unread.length < this.#chunk) return;
        this.#take(this.#unread.slice(0, this.#chunk), this.#chunk);
        this.#chunk = -1;
        continue;
      }
      if (this.#inData) {
        if (this.#unread === '' || this.#do('body', '') || !this.#body()) return;
        continue;
      }
      const end = this.#unread.indexOf('\r\n');
      if (end === -1) return;
      const line = this.#unread.slice(0, end);
      this.#unread = this.#unread.slice(end + 2);
      this.#server.commands.push(line);
      this.#command(line);
    }
  }

  /** Extracts a complete message from the input; false if there is none yet. */
  #body(): boolean {
    const end = this.#unread.startsWith('.\r\n') ? 0 : this.#unread.indexOf('\r\n.\r\n') + 2;
    if (end === 1) return false;
    const data = this.#unread.slice(0, end).replace(/^\./gm, '');
    this.#inData = false;
    this.#take(data, end + 3);
    return true;
  }

  /** Records a message of the given length in transit. */
  #take(data: string, length: number): void {
    this.#unread = this.#unread.slice(length);
    const mail: ReceivedMail = { from: this.#from, to: this.#to, data, answer: undefined };
    if (mail.to.length > 0) {
      this.#server.mails.push(mail);
      this.#isOpen = false;
    }
    this.#to = [];
    // BDAT data without a recipient is read and refused.
    mail.answer = this.#chunk < 0 || mail.to.length > 0 ? this.#do('dot', '') : this.#do('nobody', '');
  }

  #command(line: string): void {
    if (line.startsWith('BDAT ')) {
      this.#chunk = Number(line.split(' ')[1]);
      return;
    }
    const verb = line.split(' ', 1)[0]!.toLowerCase() as Stage;
    const address = /<(.*)>/.exec(line)?.[1] ?? '';
    if (this.#server.script.strict && (verb === 'mail' ? this.#isOpen : verb === 'rcpt' && !this.#isOpen)) {
      return void this.#do('out of turn', line);
    }
    const reply = this.#do(verb in USUAL ? verb : 'auth', line);
    if (!reply) return;
    if (verb === 'mail') [this.#from, this.#to] = [address, []];
    if (verb === 'mail') this.#isOpen = reply.startsWith('2');
    if (verb === 'rset') [this.#isOpen, this.#to] = [false, []];
    if (verb === 'rcpt' && reply.startsWith('2')) this.#to.push(address);
    if (verb === 'data' && reply.startsWith('354')) this.#inData = true;
    if (verb === 'starttls' && reply.startsWith('220')) this.#startTls();
    if (verb === 'quit') this.#socket.end();
  }

  #startTls(): void {
    this.#socket.removeAllListeners('data');
    this.#socket = new TLSSocket(this.#socket, { isServer: true, ...this.#server.script.tls });
    this.#listen();
  }

  /** @returns the reply, if the session goes on */
  #do(stage: Stage, line: string): string | undefined {
    const act = this.#server.act(stage, line);
    const text = act.raw ?? (act.reply === undefined ? '' : `${act.reply}\r\n`);
    if (this.#server.script.byteByByte) for (const byte of text) this.#socket.write(byte);
    else if (text !== '') this.#socket.write(text);
    if (act.after === undefined) return act.reply;
    this.#over = true;
    if (stage === 'body') this.#socket.pause();
    // Flush first: a reset discards whatever the OS still buffers.
    if (act.after === 'reset') setTimeout(() => this.#socket.resetAndDestroy(), 20);
    if (act.after === 'end') this.#socket.end(() => setTimeout(() => this.#socket.destroy(), 50));
    if (act.after === 'stop reading') this.#socket.pause();
    return undefined;
  }
}
