/**
 * A mail server that throws away what it gets and counts it, as a process of its own that ends with whoever started it. It
 * does little for each message, so that whoever sends is what is measured. Counting comes before the 250: what a client
 * is never told counts as well.
 * Asked by messages: `stats` for the figures, `counts` for how often each address got something, `reset` to begin anew; a
 * message `{ delayMs }` makes it take so long over each mail.
 */
import { createServer, type AddressInfo, type Socket } from 'node:net';

/** What it counted since it began, or was told to begin anew. */
export interface SinkStats {
  mails: number;
  /** Addresses that got something. */
  addresses: number;
  /** Mails beyond the first of an address. */
  duplicates: number;
  bytes: number;
  /** When the first and the last one came, in milliseconds since 1970; 0 when none did. */
  firstAt: number;
  lastAt: number;
  /** When mail to addresses of `probe.test` came. */
  probes: Record<string, number>;
  /** The first one, as it came. */
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

/** One connection: what has come and is not read yet, and whether that is commands or a mail. */
class Session {
  readonly #socket: Socket;
  #rest: Buffer = Buffer.alloc(0);
  #inMail = false;
  /** Octets of a mail sent by BDAT that have not come yet. */
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

  /** Answers all that is complete in one write. */
  #read(): void {
    let answer = '';
    let at = 0;
    while (!this.#busy) {
      if (this.#missing > 0) {
        const part = Math.min(this.#missing, this.#rest.length - at);
        if (stats.mails === 0 && this.#bytes === 0) stats.sample = this.#rest.toString('latin1', at, at + part);
        this.#bytes += part;
        this.#missing -= part;
        at += part;
        if (this.#missing > 0) break;
        answer += this.#took();
      } else if (this.#inMail) {
        const end = this.#rest.indexOf(END, at);
        if (end === -1) {
          // The dot may come in two pieces.
          const keep = Math.min(END.length - 1, this.#rest.length - at);
          this.#bytes += this.#rest.length - at - keep;
          at = this.#rest.length - keep;
          break;
        }
        if (stats.mails === 0) stats.sample = this.#rest.toString('latin1', at, end + 2);
        this.#bytes += end - at;
        at = end + END.length;
        this.#inMail = false;
        answer += this.#took();
      } else {
        const end = this.#rest.indexOf(LINE_END, at);
        if (end === -1) break;
        answer += this.#command(this.#rest.toString('latin1', at, end));
        at = end + 1;
      }
    }
    this.#rest = this.#rest.subarray(at);
    if (answer !== '') this.#socket.write(answer, 'latin1');
  }

  /** @returns the answer, unless it comes later */
  #took(): string {
    take(this.#recipient, this.#bytes);
    this.#bytes = 0;
    if (delayMs === 0) return '250 2.0.0 taken\r\n';
    this.#answerLater();
    return '';
  }

  #answerLater(): void {
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
