import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  headers: IncomingHttpHeaders;
  /** The raw body as text, which the signature covers. */
  raw: string;
  /** The parsed body. */
  event: { id: string; type: string; created: string; project_id: string; data: Record<string, unknown> };
}

export interface Receiver {
  url: string;
  received: Received[];
  close: () => Promise<void>;
}

/** A customer's endpoint on this machine. `answer` decides the reply; the default is 204. */
export async function startReceiver(
  answer: (received: Received, response: ServerResponse, count: number) => void = (_received, response) =>
    void response.writeHead(204).end(),
): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const raw = Buffer.concat(chunks).toString('utf8');
    const one: Received = { headers: request.headers, raw, event: JSON.parse(raw) };
    received.push(one);
    answer(one, response, received.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
