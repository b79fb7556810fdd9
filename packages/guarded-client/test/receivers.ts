import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClientOptions, createGuardedClient } from '../src/guarded-client.ts';

const endings: (() => Promise<unknown>)[] = [];

/** Closes the clients and servers of a test. */
export const closeAll = async (): Promise<void> => {
  await Promise.all(endings.splice(0).map((end) => end()));
};

export const LIMITS = { deadlineMs: 10_000, bodyGraceMs: 1_000, responseBytes: 4_096 };

/** For posts that are meant to time out. */
export const HURRIED = { deadlineMs: 400 };

/** Posts with a client that has these options. */
export function client(options: Partial<ClientOptions> = {}) {
  const created = createGuardedClient({ scope: 'private', ...LIMITS, ...options });
  endings.push(() => created.close());
  let posts = 0;
  return (url: string, body = '{"id":"evt_1"}') =>
    created.post({ url, headers: () => ({ 'content-type': 'application/json', 'x-webhook-id': `a${++posts}` }), body });
}

/** Starts a server on a free port. */
export async function listen<S extends Server>(server: S): Promise<{ server: S; port: number; url: string }> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endings.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { server, port, url: `http://127.0.0.1:${port}/hook` };
}

export const receiver = (answer: RequestListener) => listen(createServer(answer));
/** A plain TCP server; `talk` gets each connection. */
export const rawReceiver = (talk: (socket: Socket, connection: number) => void) => {
  let connections = 0;
  return listen(createTcpServer((socket) => talk(socket, ++connections)));
};

/** The body of a request. */
export async function text(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

let made: { key: string; cert: string } | undefined;

/** A key and self-signed certificate, made once. */
export function certificate(): { key: string; cert: string } {
  made ??= makeCertificate();
  return made;
}

function makeCertificate(): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-tls-'));
  const at = (name: string) => join(folder, name);
  const names = 'subjectAltName=DNS:two.example,DNS:rebinds.example';
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '1',
      '-subj',
      '/CN=two.example',
      '-addext',
      names,
      '-keyout',
      at('key'),
      '-out',
      at('cert'),
    ],
    { stdio: 'ignore' },
  );
  const files = { key: readFileSync(at('key'), 'utf8'), cert: readFileSync(at('cert'), 'utf8') };
  rmSync(folder, { recursive: true });
  return files;
}
