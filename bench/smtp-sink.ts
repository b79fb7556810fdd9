/**
 * A mail server that counts and discards mail, in a separate process that exits with its parent. It does little work per message,
 * so that the sender is what is measured. It counts before it replies 250, so a message whose reply is lost counts too.
 * IPC messages: `stats` returns the figures, `counts` the number of messages per address, `reset` starts over, and
 * `{ delayMs }` delays every mail.
 */
import { createServer, type AddressInfo, type Socket } from 'node:net';

/** Figures since the start or the last reset. */
export interface SinkStats {
  mails: number;
  /** Addresses that received mail. */
  addresses: number;
  /** Mails to an address after the first. */
  duplicates: number;
  bytes: number;
  /** Arrival of the first and the last mail, in milliseconds since 1970; 0 without mail. */
  firstAt: number;
  lastAt: number;
  /** Arrival times of mail to `probe.test`. */
  probes: Record<string, number>;
  /** The first mail, as received. */
  sample: string;
}

const END = Buffer.from('\r\n.\r\n');
const LINE_END = 0x0a;

let delayMs = 0;
let seen = new Map<string, number>();
let stats = empty();

function empty(): SinkStats {
  return { mails: 0, addresses: 0, duplicates: 0, bytes: 0, firstAt: 0, lastAt: 0, probes: {}, sample: '' };
}

function take(address: string, bytes: number): void {
  const before = seen.get(address);
  seen.set(address, (before ?? 0) + 1);
  if (before !== undefined) stats.duplicates++;
  stats.mails++;
  stats.bytes += bytes;
  stats.lastAt = Date.now();
  if (stats.firstAt === 0) stats.firstAt = stats.lastAt;
  if (address.endsWith('@probe.test')) stats.probes[address] = stats.lastAt;
}

/** One connection: its unread input, and whether that is commands or a mail. */
class Session {
  readonly #socket: Socket;
  #rest: Buffer = Buffer.alloc(0);
  #inMail = false;
  /** Octets of a BDAT chunk still to come. */
  #missing = 0;
  #recipient = '';
  #bytes = 0;
  #busy = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
      this.#read();
    });
    socket.write('220 sink ESMTP\r\n');
  }

  /** Replies to all complete commands in one write. */
  #read(): void {
    let reply = '';
    let at = 0;
    while (!this.#busy) {
      if (this.#missing > 0) {
        const part = Math.min(this.#missing, this.#rest.length - at);
        if (stats.mails === 0 && this.#bytes === 0) stats.sample = this.#rest.toString('latin1', at, at + part);
        this.#bytes += part;
        this.#missing -= part;
        at += part;
        if (this.#missing > 0) break;
        reply += this.#took();
      } else if (this.#inMail) {
        const end = this.#rest.indexOf(END, at);
        if (end === -1) {
          // The final dot may arrive in two chunks.
          const keep = Math.min(END.length - 1, this.#rest.length - at);
          this.#bytes += this.#rest.length - at - keep;
          at = this.#rest.length - keep;
          break;
        }
        if (stats.mails === 0) stats.sample = this.#rest.toString('latin1', at, end + 2);
        this.#bytes += end - at;
        at = end + END.length;
        this.#inMail = false;
        reply += this.#took();
      } else {
        const end = this.#rest.indexOf(LINE_END, at);
        if (end === -1) break;
        reply += this.#command(this.#rest.toString('latin1', at, end));
        at = end + 1;
      }
    }
    this.#rest = this.#rest.subarray(at);
    if (reply !== '') this.#socket.write(reply, 'latin1');
  }

  /** @returns the reply, unless it follows later */
  #took(): string {
    take(this.#recipient, this.#bytes);
    this.#bytes = 0;
    if (delayMs === 0) return '250 2.0.0 taken\r\n';
    this.#replyLater();
    return '';
  }

  #replyLater(): void {
    this.#busy = true;
    setTimeout(() => {
      this.#busy = false;
      this.#socket.write('250 2.0.0 taken\r\n');
      this.#read();
    }, delayMs);
  }

  #command(line: string): string {
    switch (line.slice(0, 4).toUpperCase()) {
      case 'MAIL':
      case 'RSET':
      case 'NOOP':
        return '250 2.1.0 ok\r\n';
      case 'RCPT':
        this.#recipient = line.slice(line.indexOf('<') + 1, line.lastIndexOf('>'));
        return '250 2.1.5 ok\r\n';
      case 'DATA':
        this.#inMail = true;
        return '354 go on\r\n';
      case 'BDAT':
        this.#missing = Number(line.split(' ')[1]);
        return '';
      case 'EHLO':
      case 'HELO':
        return '250-sink\r\n250-PIPELINING\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n250-CHUNKING\r\n250 SIZE 50000000\r\n';
      case 'QUIT':
        this.#socket.end('221 2.0.0 bye\r\n');
        return '';
      default:
        return '500 5.5.1 unknown\r\n';
    }
  }
}

const server = createServer((socket) => void new Session(socket));
process.on('message', (word: 'stats' | 'counts' | 'reset' | { delayMs: number }) => {
  if (typeof word === 'object') ({ delayMs } = word);
  else if (word === 'stats') process.send?.({ ...stats, addresses: seen.size });
  else if (word === 'counts') process.send?.([...seen]);
  else {
    seen = new Map();
    stats = empty();
  }
});
process.on('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
