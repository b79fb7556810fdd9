import type { Socket } from 'node:net';

const readers = new WeakMap<object, StatusReader>();

/**
 * Reads the status lines on an HTTP/1 connection before undici does. It reports the status of a response whatever follows,
 * even headers that undici rejects or that never end. It also lets a receiver send `100 Continue` before its response:
 * clients must accept it even when they did not ask for it (RFC 9110, 10.1.1 and 15.2), but undici drops the connection.
 * undici skips every other interim response, so this passes 100 on to it as 102, which has the same length.
 */
export function readStatusLines(socket: Socket): void {
  const reader = new StatusReader();
  readers.set(socket, reader);
  const read = socket.read.bind(socket);
  socket.read = (size) => {
    const chunk: unknown = read(size);
    if (Buffer.isBuffer(chunk)) reader.read(chunk);
    return chunk;
  };
}

/** Call when a request is sent on the socket: the next bytes are a response, and `onStatus` gets its final status. */
export function expectResponse(socket: object, onStatus: (status: number) => void): void {
  readers.get(socket)?.restart(onStatus);
}

/** The start of a status line, up to the byte after the status. */
const START = /^HTTP\/1\.[01] (\d{3})[ \r\n]$/;
const START_LENGTH = 'HTTP/1.1 200 '.length;
const LAST_DIGIT = START_LENGTH - 2;
const TWO = 0x32;
const [LF, CR] = [0x0a, 0x0d];

/** Follows interim heads up to the final status, however the chunks are split, and ignores every byte after it. */
class StatusReader {
  #start = '';
  #lineIsEmpty = false;
  #isDone = false;
  #onStatus: ((status: number) => void) | undefined;

  restart(onStatus: (status: number) => void): void {
    this.#start = '';
    this.#isDone = false;
    this.#onStatus = onStatus;
  }

  /** Changes the chunk in place. */
  read(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && !this.#isDone; at++) {
      const byte = chunk[at] as number;
      if (this.#start.length === START_LENGTH) this.#skipHead(byte);
      else if (this.#start !== '' || !isLineBreak(byte)) this.#readStart(byte, chunk, at);
    }
  }

  #readStart(byte: number, chunk: Buffer, at: number): void {
    this.#start += String.fromCharCode(byte);
    if (this.#start.length === LAST_DIGIT + 1 && this.#start.endsWith(' 100')) chunk[at] = TWO;
    if (this.#start.length < START_LENGTH) return;
    const status = Number(START.exec(this.#start)?.[1] ?? 0);
    this.#lineIsEmpty = false;
    // After 101 the connection speaks another protocol.
    if (status >= 100 && status < 200 && status !== 101) return this.#skipHead(byte);
    this.#isDone = true;
    if (status >= 200) this.#onStatus?.(status);
  }

  /** An interim head ends with an empty line; the next head follows. */
  #skipHead(byte: number): void {
    if (byte === LF) {
      if (this.#lineIsEmpty) this.#start = '';
      this.#lineIsEmpty = true;
    } else if (byte !== CR) this.#lineIsEmpty = false;
  }
}

const isLineBreak = (byte: number) => byte === LF || byte === CR;
