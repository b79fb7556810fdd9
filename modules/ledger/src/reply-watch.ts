import { MAIL_POLICY } from './policy.ts';

const CHECK_MS = 1_000;

/** Tells when a mail server has replied to none of the messages in flight for a while, and when it replies again. */
export class ReplyWatch {
  readonly #tell: (isSilent: boolean) => Promise<void>;
  readonly #timer: NodeJS.Timeout;
  #inFlight = 0;
  #since = 0;
  #isSilent = false;
  #telling: Promise<void> = Promise.resolve();

  /** @param tell is called one at a time, and must not reject. */
  constructor(tell: (isSilent: boolean) => Promise<void>) {
    this.#tell = tell;
    this.#timer = setInterval(() => this.#check(), CHECK_MS);
  }

  /** Sends a message, which includes its wait for a connection. */
  async send<T>(send: () => Promise<T>): Promise<T> {
    if (this.#inFlight++ === 0) this.#since = performance.now();
    try {
      return await send();
    } finally {
      this.#inFlight--;
      this.#since = performance.now();
      this.#set(false);
    }
  }

  /** Ends it. Resolves once everything is told. */
  close(): Promise<void> {
    clearInterval(this.#timer);
    return this.#telling;
  }

  #check(): void {
    if (this.#inFlight > 0 && performance.now() - this.#since > MAIL_POLICY.pipeline.silentMs) this.#set(true);
  }

  #set(isSilent: boolean): void {
    if (this.#isSilent === isSilent) return;
    this.#isSilent = isSilent;
    this.#telling = this.#telling.then(() => this.#tell(isSilent));
  }
}
