import PostalMime from 'postal-mime';

/** A part of a mail; the library's types don't include it. */
interface Part {
  postalMime: PostalMime;
  contentDecoder: { chunks: Pick<Bytes, 'push'> };
  /** Called once for each part. */
  setupContentDecoder: (encoding: string) => void;
}

/** Maximum parts of a mail: each takes more than a kilobyte of memory, and may be sent in five bytes. */
const MAX_PARTS = 1_000;

const LINE_FEED = Uint8Array.of(0x0a);

/**
 * The decoded content of a part. The library keeps an object for each line: a mail of 2 MB with short lines took 2 GB of memory
 * and half a minute, and one of 6 MB ended the process.
 */
class Bytes {
  #bytes = new Uint8Array(1_024);
  #length = 0;

  push(chunk: Uint8Array | ArrayBuffer | string): void {
    // The only string is a line feed.
    const bytes = typeof chunk === 'string' ? LINE_FEED : chunk instanceof ArrayBuffer ? new Uint8Array(chunk) : chunk;
    const end = this.#length + bytes.length;
    if (end > this.#bytes.length) this.#bytes = new Uint8Array(this.#bytes.buffer.transfer(end * 2));
    this.#bytes.set(bytes, this.#length);
    this.#length = end;
  }

  *[Symbol.iterator]() {
    yield this.#bytes.subarray(0, this.#length);
  }
}

const part = Object.getPrototypeOf((new PostalMime() as unknown as { root: Part }).root) as Part;
const { setupContentDecoder } = part;
const partCounts = new WeakMap<PostalMime, number>();
part.setupContentDecoder = function (encoding) {
  const count = (partCounts.get(this.postalMime) ?? 0) + 1;
  if (count > MAX_PARTS) throw new Error(`Maximum number of ${MAX_PARTS} parts exceeded`);
  partCounts.set(this.postalMime, count);
  setupContentDecoder.call(this, encoding);
  this.contentDecoder.chunks = new Bytes();
};

/** Parses a mail in time and memory that are a small multiple of its size. Its promise is rejected for one with too many parts. */
export default PostalMime;
export { addressParser, decodeWords } from 'postal-mime';
export type { Address, Attachment, Email, Mailbox, PostalMimeOptions } from 'postal-mime';
