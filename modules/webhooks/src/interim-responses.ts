import type { Socket } from 'node:net';

const filters = new WeakMap<object, InterimFilter>();

/**
 * Lets a receiver send `100 Continue` before its response. HTTP/1.1 clients must accept it even when they did not ask for
 * it (RFC 9110, 10.1.1 and 15.2), but undici drops the connection. It skips every other interim response, so this passes
 * 100 on to it as 102, which has the same length.
 */
export function acceptContinue(socket: Socket): void {
  const filter = new InterimFilter();
  filters.set(socket, filter);
  const read = socket.read.bind(socket);
  socket.read = (size) => {
    const chunk: unknown = read(size);
    if (Buffer.isBuffer(chunk)) filter.rewrite(chunk);
    return chunk;
  };
}

/** Call when a request is sent on the socket: the next bytes are a response head. */
export function expectResponse(socket: object): void {
  filters.get(socket)?.restart();
}

/** The digits of the status in `HTTP/1.1 100`. */
const [FIRST_DIGIT, LAST_DIGIT] = [9, 11];
const [ZERO, ONE, TWO] = [0x30, 0x31, 0x32];
const [LF, CR] = [0x0a, 0x0d];

/** Tracks interim heads up to the final status, however the chunks are split, and ignores every byte after it. */
class InterimFilter {
  #position = 0;
  #isContinue = true;
  #lineIsEmpty = false;
  #isDone = false;

  restart(): void {
    this.#position = 0;
    this.#isDone = false;
  }

  /** Changes the chunk in place. */
  rewrite(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && !this.#isDone; at++) {
      const byte = chunk[at] as number;
      if (this.#position <= LAST_DIGIT) this.#readStatus(byte, chunk, at);
      else this.#skipHead(byte);
    }
  }

  #readStatus(byte: number, chunk: Buffer, at: number): void {
    const position = this.#position++;
    if (position < FIRST_DIGIT) return;
    if (position === FIRST_DIGIT) {
      this.#isDone = byte !== ONE;
      this.#isContinue = true;
      this.#lineIsEmpty = false;
    } else if (byte !== ZERO) this.#isContinue = false;
    if (position === LAST_DIGIT && this.#isContinue) chunk[at] = TWO;
  }

  /** An interim head ends with an empty line; the next head follows. */
  #skipHead(byte: number): void {
    if (byte === LF) {
      if (this.#lineIsEmpty) this.#position = 0;
      this.#lineIsEmpty = true;
    } else if (byte !== CR) this.#lineIsEmpty = false;
  }
}
