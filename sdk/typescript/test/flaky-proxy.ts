import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What happens to an attempt: it arrives, is lost in either direction, or is responded to by an intermediary. */
export type Fate =
  | 'arrives'
  | 'lost before it arrives'
  | 'answer lost'
  | { status: number; headers?: Record<string, string>; body?: string };

export interface FlakyProxy {
  url: string;
  /** The headers of each attempt, in order. */
  attempts: IncomingHttpHeaders[];
  close: () => Promise<void>;
}

/** A proxy in front of the real gateway that injects failures, one per attempt. */
export async function flakyProxy(upstream: string, ...fates: Fate[]): Promise<FlakyProxy> {
  const attempts: IncomingHttpHeaders[] = [];
  const server = createServer(async (request, response) => {
    const fate = fates[attempts.length] ?? 'arrives';
    attempts.push(request.headers);
    if (fate === 'lost before it arrives') return void request.socket.destroy();
    if (typeof fate === 'object') return void response.writeHead(fate.status, fate.headers).end(fate.body ?? '');
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers;
    const answer = await fetch(upstream + (request.url ?? ''), {
      method: request.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
    });
    const text = await answer.text();
    if (fate === 'answer lost') return void request.socket.destroy();
    const kept = [...answer.headers].filter(
      ([name]) => !['connection', 'content-length', 'keep-alive', 'transfer-encoding'].includes(name),
    );
    response.writeHead(answer.status, Object.fromEntries(kept)).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    attempts,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
