import { Agent as HttpAgent, type IncomingHttpHeaders, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { config, connectionFailure, guardedLookup, hostProblem } from '@postroom/platform';
import { TRANSPORT_POLICY } from '../policy.ts';

/** A request without a complete response. If it was written, SES may or may not have processed it. */
export class IncompleteRequest extends Error {
  readonly written: boolean;

  constructor(message: string, written: boolean) {
    super(message);
    this.name = 'IncompleteRequest';
    this.written = written;
  }
}

/** The SDK's request, as handed to a request handler. */
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

/** Options that the SDK passes on from `send`. */
export interface SendOptions {
  /** Called before the request is written. */
  beforeWrite?: (() => void) | undefined;
}

interface SdkResponse {
  statusCode: number;
  headers: Record<string, string>;
  body: Uint8Array;
}

const { connectMs, responseMs, maxResponseBytes, keepAliveMs, maxSockets } = TRANSPORT_POLICY.ses;
const KEEP_ALIVE = { keepAlive: true, timeout: keepAliveMs, maxSockets };

/**
 * Request handler for the SDK with keep-alive connections. Unlike the SDK's own, it reports whether a failed request had been
 * written. Responses are fully buffered before they are returned.
 */
export class SesRequests {
  readonly #agents = { 'http:': new HttpAgent(KEEP_ALIVE), 'https:': new HttpsAgent(KEEP_ALIVE) };

  handle(request: SdkRequest, { beforeWrite }: SendOptions = {}): Promise<{ response: SdkResponse }> {
    return new Promise((resolve, reject) => {
      const problem = hostProblem(request.hostname.replace(/^\[(.*)\]$/, '$1'), config.providerScope);
      if (problem !== undefined) return reject(new IncompleteRequest(`The endpoint host ${problem}.`, false));
      const isHttps = request.protocol === 'https:';
      let written = false;
      const fail = (message: string) => reject(new IncompleteRequest(message, written));
      const outgoing = (isHttps ? requestHttps : requestHttp)({
        host: request.hostname,
        ...(request.port === undefined ? {} : { port: request.port }),
        path: request.path + queryOf(request.query),
        method: request.method,
        headers: request.headers,
        agent: this.#agents[isHttps ? 'https:' : 'http:'],
        lookup: guardedLookup(() => config.providerScope),
      });
      const timer = setTimeout(() => outgoing.destroy(new Error('Timed out connecting to SES')), connectMs);
      const begin = () => {
        beforeWrite?.();
        written = true;
        clearTimeout(timer);
        outgoing.setTimeout(responseMs, () => outgoing.destroy(new Error('Timed out waiting for SES to respond')));
        outgoing.end(request.body as string | Uint8Array | undefined);
      };
      outgoing.on('socket', (socket) => {
        // The server may have closed a kept-alive connection: wait one event loop turn to notice before writing.
        if (!socket.connecting) setImmediate(() => setImmediate(() => outgoing.destroyed || begin()));
        else socket.once(isHttps ? 'secureConnect' : 'connect', begin);
      });
      outgoing.on('error', (error) => {
        clearTimeout(timer);
        fail(connectionFailure(error).text || 'The connection was lost');
      });
      outgoing.on('response', (incoming) => {
        const chunks: Buffer[] = [];
        let length = 0;
        incoming.on('data', (chunk: Buffer) => {
          length += chunk.length;
          if (length <= maxResponseBytes) chunks.push(chunk);
        });
        incoming.on('error', (error) => fail(error.message));
        incoming.on('close', () => fail('The connection was lost during the response of SES'));
        incoming.on('end', () => {
          if (!incoming.complete) return fail('The connection was lost during the response of SES');
          const { statusCode = 0, headers } = incoming;
          resolve({ response: { statusCode, headers: joinHeaders(headers), body: Buffer.concat(chunks) } });
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

function queryOf(query: SdkRequest['query']): string {
  const pairs = Object.entries(query ?? {}).flatMap(([key, value]) =>
    [value]
      .flat()
      .map((one) => (one === null ? encodeURIComponent(key) : `${encodeURIComponent(key)}=${encodeURIComponent(one)}`)),
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function joinHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]));
}
