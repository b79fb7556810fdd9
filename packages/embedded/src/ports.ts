import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';
import { StartError } from './errors.ts';

/** We listen on 127.0.0.1 only; nothing here should be reachable from other machines. */
export const HOST = '127.0.0.1';

/** @throws StartError naming the first port that is already in use. */
export async function checkPorts(wanted: ReadonlyMap<number, string>): Promise<void> {
  for (const [port, purpose] of wanted) {
    if (await isFree(port)) continue;
    const others = port < 60_000 ? port - (port % 100) + 1010 : 3410;
    throw new StartError(
      `Port ${port} (${purpose}) is already in use. Stop the program that listens there, or choose other ports with npm start -- --port-base ${others}.`,
    );
  }
}

/**
 * Finds consecutive free ports for tests, below the ephemeral range so that no other program is given them, and above 10080, the highest that
 * `fetch` refuses (bad port).
 */
export async function freePorts(count: number): Promise<number[]> {
  for (;;) {
    const first = 10_081 + randomInt(20_000);
    const ports = Array.from({ length: count }, (_, index) => first + index);
    const free = await Promise.all(ports.map((port) => isFree(port)));
    if (free.every(Boolean)) return ports;
  }
}

/**
 * An address of this machine that is hard to guess: a random one of 127.0.0.0/8, which is all loopback on Linux and Windows.
 * Elsewhere it is 127.0.0.1.
 */
export async function hiddenAddress(): Promise<string> {
  const address = `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`;
  const server = await listen(0, address).catch(() => undefined);
  if (server === undefined) return HOST;
  await new Promise((done) => server.close(done));
  return address;
}

/**
 * Whether a program may listen on the port. Some systems allow 127.0.0.1 to be bound alongside a wildcard
 * listener, so this also tries to connect.
 */
export async function isFree(port: number, host: string = HOST): Promise<boolean> {
  if (await answers(port, host)) return false;
  try {
    const server = await listen(port, host);
    await new Promise((done) => server.close(done));
    return true;
  } catch {
    return false;
  }
}

function listen(port: number, host: string) {
  return new Promise<ReturnType<typeof createServer>>((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => resolve(server));
  });
}

/** Whether something accepts connections on the port. */
export function answers(port: number, host: string = HOST, timeoutMs = 1000): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host, timeout: timeoutMs });
    const end = (answered: boolean) => {
      socket.destroy();
      resolve(answered);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
    socket.once('timeout', () => end(false));
  });
}
