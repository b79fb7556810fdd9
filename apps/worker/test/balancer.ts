import { Agent, createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A gateway behind the balancer. */
interface Backend {
  port: number;
  /** Where it says whether it is ready. */
  readyUrl: string;
}

export interface Balancer {
  url: string;
  add: (backend: Backend) => Promise<void>;
  /** Requests that it could not pass on or that broke off, as text. */
  failures: string[];
  close: () => Promise<void>;
}

/** How often it looks whether backends are ready, in milliseconds. */
const CHECK_MS = 100;

/**
 * A load balancer as in front of a deployment: it keeps connections alive, sends requests in turn to the backends that say
 * they are ready, and repeats none.
 */
export async function startBalancer(): Promise<Balancer> {
  const agent = new Agent({ keepAlive: true });
  const ready = new Set<Backend>();
  const backends = new Set<Backend>();
  const failures: string[] = [];
  let turn = 0;
  const check = async (backend: Backend) => {
    const isReady = await fetch(backend.readyUrl).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) ready.add(backend);
    else ready.delete(backend);
  };
  const checking = setInterval(() => void Promise.all([...backends].map(check)), CHECK_MS);
  const server = createServer((incoming, outgoing) => {
    const fail = (why: string) => {
      failures.push(`${incoming.method} ${incoming.url}: ${why}`);
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(502).end();
    };
    const backend = [...ready][turn++ % Math.max(1, ready.size)];
    if (backend === undefined) return fail('no backend is ready');
    const { method, url: path, headers } = incoming;
    const passed = httpRequest({ host: '127.0.0.1', port: backend.port, method, path, headers, agent }, (answer) => {
      if ((answer.statusCode ?? 500) >= 500) failures.push(`${method} ${path}: status ${answer.statusCode}`);
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.on('error', ({ message }) => fail(message)).pipe(outgoing);
    });
    passed.on('error', ({ message }) => fail(message));
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    failures,
    add: async (backend) => {
      backends.add(backend);
      await check(backend);
    },
    close: async () => {
      clearInterval(checking);
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
