import type { DomainError } from '@postroom/platform';
import { type ExecutionResult, GraphQLError } from 'graphql';

/** Receives results; each call waits until the reader has taken the previous ones. */
interface Reader {
  next: (result: ExecutionResult) => Promise<void>;
  complete: () => Promise<void>;
}

/**
 * An operation whose results go to a reader one at a time: the next one is pulled when the reader has taken the last.
 */
export class Operation {
  readonly #results: AsyncIterator<ExecutionResult>;
  readonly #reader: Reader;
  readonly #toError: (error: unknown) => Error;
  readonly #finished = Promise.withResolvers<void>();
  #why: DomainError | undefined;
  #stopped = false;

  constructor(
    result: ExecutionResult | AsyncIterable<ExecutionResult>,
    reader: Reader,
    toError: (error: unknown) => Error,
  ) {
    this.#results = isStream(result) ? result[Symbol.asyncIterator]() : one(result);
    this.#reader = reader;
    this.#toError = toError;
  }

  /** Sends every result, then completion. An error is sent as the last result. */
  async run(): Promise<void> {
    try {
      for (;;) {
        const { value, done } = await this.#results.next();
        if (done === true || this.#stopped) break;
        await this.#reader.next(value);
      }
    } catch (error) {
      await this.#reader.next(withError(this.#toError(error)));
    }
    if (this.#why !== undefined) await this.#reader.next(withError(this.#toError(this.#why)));
    await this.#reader.complete();
    this.#finished.resolve();
  }

  /** Stops early; `why` is sent as the last result. Waits until that has been sent. */
  async stop(why?: DomainError): Promise<void> {
    if (!this.#stopped) {
      this.#stopped = true;
      this.#why = why;
      this.#results.return?.().catch(() => {}); // the results have no reader left
    }
    await this.#finished.promise;
  }
}

export function isStream(result: unknown): result is AsyncIterable<ExecutionResult> {
  return typeof result === 'object' && result !== null && Symbol.asyncIterator in result;
}

/** Serializes a result, without server-only extensions. */
export function printResult(result: ExecutionResult): string {
  const { errors } = result;
  return JSON.stringify(errors === undefined ? result : { ...result, errors: errors.map(withoutHttp) });
}

function withoutHttp(error: Error): object {
  if (!(error instanceof GraphQLError)) return { message: error.message };
  const { extensions = {}, ...shown } = error.toJSON();
  const { http: _, ...told } = extensions;
  return Object.keys(told).length === 0 ? shown : { ...shown, extensions: told };
}

const withError = (error: Error): ExecutionResult => ({ data: null, errors: [error as GraphQLError] });

async function* one(result: ExecutionResult): AsyncGenerator<ExecutionResult, void> {
  yield result;
}
