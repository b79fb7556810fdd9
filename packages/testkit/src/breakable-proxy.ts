import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy to a server such as PostgreSQL that tests can break and restore. */
export interface BreakableProxy {
  /** The server's URL, with the proxy's host and port. */
  url: string;
  connections: () => number;
  /** Breaks all connections and refuses new ones until `restore`. */
  break: () => void;
  restore: () => void;
  /** Forwards new connections to another server; those that are open stay where they are. */
  pointTo: (serverUrl: string) => void;
  close: () => void;
}

export async function startBreakableProxy(serverUrl: string): Promise<BreakableProxy> {
  let server = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let isBroken = false;
  const proxy = createServer((socket) => {
    socket.on('error', () => {});
    if (isBroken) return void socket.destroy();
    const upstream = connect(Number(server.port), server.hostname);
    upstream.on('error', () => socket.destroy());
    sockets.add(socket);
    socket.on('close', () => {
      sockets.delete(socket);
      upstream.destroy();
    });
    upstream.on('close', () => socket.destroy());
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const url = new URL(serverUrl);
  url.hostname = '127.0.0.1';
  url.port = String((proxy.address() as AddressInfo).port);
  return {
    url: url.href,
    connections: () => sockets.size,
    break: () => {
      isBroken = true;
      for (const socket of sockets) socket.destroy();
    },
    restore: () => {
      isBroken = false;
    },
    pointTo: (other) => {
      server = new URL(other);
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    },
  };
}
