import { Agent as HttpAgent, type IncomingHttpHeaders, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { config, guardedLookup, hostProblem, withoutAddress } from '@postroom/platform';

/** A request to SES that brought no whole answer. Once it was written, nobody can know what SES did. */
export class CutRequest extends Error {
  readonly written: boolean;

  constructor(message: string, written: boolean) {
    super(message);
    this.name = 'CutRequest';
    this.written = written;
  }
}

/** What the SDK gives a handler. */
interface SdkRequest {
  protocol: string;
  hostname: string;
  port?: number | undefined;
  path: string;
  query?: Record<string, string | string[] | null> | undefined;
  method: string;
  headers: Record<string, string>;
  body?: unknown;
}

interface SdkResponse {
  statusCode: number;
  headers: Record<string, string>;
  body: Uint8Array;
}

const CONNECT_MS = 10_000;
/** SES answers in a tenth of a second; giving up early makes messages whose fate nobody knows. */
const ANSWER_MS = 120_000;
const ANSWER_BYTES = 1024 * 1024;

/**
 * Carries the SDK's requests over connections that are kept, and tells of one that broke whether it had been written: the
 * SDK's own handler does not. Answers are read to their end before they are handed on.
 */
export class SesRequests {
  // A connection that was idle for long may be closed by its other end just when it is used again.
  readonly #agents = { 'http:': new HttpAgent(KEPT), 'https:': new HttpsAgent(KEPT) };

  handle(request: SdkRequest): Promise<{ response: SdkResponse }> {
    return new Promise((resolve, reject) => {
      const problem = hostProblem(request.hostname.replace(/^\[(.*)\]$/, '$1'), config.providerScope);
      if (problem !== undefined) return reject(new CutRequest(`The host of the endpoint ${problem}.`, false));
      const isHttps = request.protocol === 'https:';
      let written = false;
      const fail = (message: string) => reject(new CutRequest(message, written));
      const outgoing = (isHttps ? requestHttps : requestHttp)({
        host: request.hostname,
        ...(request.port === undefined ? {} : { port: request.port }),
        path: request.path + queryOf(request.query),
        method: request.method,
        headers: request.headers,
        agent: this.#agents[isHttps ? 'https:' : 'http:'],
        lookup: guardedLookup(() => config.providerScope),
      });
      const timer = setTimeout(() => outgoing.destroy(new Error('SES could not be reached in time')), CONNECT_MS);
      const begin = () => {
        written = true;
        clearTimeout(timer);
        outgoing.setTimeout(ANSWER_MS, () => outgoing.destroy(new Error('SES did not answer in time')));
        outgoing.end(request.body as string | Uint8Array | undefined);
      };
      outgoing.on('socket', (socket) => {
        // Its other end may have closed a kept connection: in a whole turn of the loop that is heard of, before anything is written.
        if (!socket.connecting) setImmediate(() => setImmediate(() => outgoing.destroyed || begin()));
        else socket.once(isHttps ? 'secureConnect' : 'connect', begin);
      });
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        clearTimeout(timer);
        fail(withoutAddress(error) || (error.code ?? 'The connection broke'));
      });
      outgoing.on('response', (incoming) => {
        const chunks: Buffer[] = [];
        let length = 0;
        incoming.on('data', (chunk: Buffer) => {
          length += chunk.length;
          if (length <= ANSWER_BYTES) chunks.push(chunk);
        });
        incoming.on('error', (error) => fail(error.message));
        incoming.on('close', () => fail('The connection broke within the answer of SES'));
        incoming.on('end', () => {
          if (!incoming.complete) return fail('The connection broke within the answer of SES');
          const { statusCode = 0, headers } = incoming;
          resolve({ response: { statusCode, headers: flat(headers), body: Buffer.concat(chunks) } });
        });
      });
    });
  }

  destroy(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  updateHttpClientConfig(): void {}

  httpHandlerConfigs(): Record<string, never> {
    return {};
  }
}

const KEPT = { keepAlive: true, timeout: 15_000, maxSockets: 64 };

function queryOf(query: SdkRequest['query']): string {
  const pairs = Object.entries(query ?? {}).flatMap(([key, value]) =>
    [value]
      .flat()
      .map((one) => (one === null ? encodeURIComponent(key) : `${encodeURIComponent(key)}=${encodeURIComponent(one)}`)),
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function flat(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]));
}
