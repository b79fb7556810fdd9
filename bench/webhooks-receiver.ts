// The receiver of bench/webhooks.ts, in a separate process that exits with its parent. It acknowledges and counts every POST. On a
// second port it accepts connections and never responds.
import { createServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';

let seen = new Map<string, number>();

const server = createServer(async (request, response) => {
  const at = Date.now();
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  response.writeHead(204).end();
  const { id, created } = JSON.parse(Buffer.concat(chunks).toString()) as { id: string; created: string };
  const key = `${request.url} ${id}`;
  if (!seen.has(key)) seen.set(key, at - Date.parse(created));
});
server.keepAliveTimeout = 60_000;
const hanging = createTcpServer(() => {});
const portOf = (one: { address: () => unknown }) => (one.address() as AddressInfo).port;

process.on('message', (word: 'count' | 'take') => {
  if (word === 'count') return void process.send?.({ count: seen.size });
  const latencies = [...seen.values()].sort((a, b) => a - b);
  seen = new Map();
  const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  process.send?.({ count: latencies.length, p50: at(0.5), p99: at(0.99), latencies });
});
process.on('disconnect', () => process.exit(0));

await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve));
process.send?.({ port: portOf(server), hangingPort: portOf(hanging) });
