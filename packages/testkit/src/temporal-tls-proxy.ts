import { connect as connectHttp2, constants, createSecureServer, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createServer } from 'node:tls';

/** A certificate and its key, both PEM. */
interface KeyPair {
  cert: string;
  key: string;
}

export interface TlsProxy {
  /** For TEMPORAL_ADDRESS. */
  address: string;
  /** Connections or requests that it accepted, and that it rejected. */
  counts: { accepted: number; rejected: number };
  close: () => Promise<void>;
}

/** Terminates TLS in front of a Temporal server, for clients with this certificate only. */
export async function startMutualTlsProxy(target: string, server: KeyPair, clientCert: string): Promise<TlsProxy> {
  const counts = { accepted: 0, rejected: 0 };
  const sockets = new Set<Socket>();
  const [host = '', port] = target.split(':');
  const proxy = createServer(
    { ...server, ca: clientCert, requestCert: true, rejectUnauthorized: true, ALPNProtocols: ['h2'] },
    (socket) => {
      counts.accepted++;
      const upstream = connect(Number(port), host);
      for (const each of [socket, upstream]) {
        sockets.add(each);
        each.on('error', () => {});
        each.once('close', () => sockets.delete(each));
      }
      socket.pipe(upstream).pipe(socket);
    },
  );
  proxy.on('tlsClientError', () => counts.rejected++);
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    counts,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

/** gRPC's status for a missing or wrong API key. */
const UNAUTHENTICATED = '16';

/** Terminates TLS in front of a Temporal server, for requests with this API key only, as Temporal Cloud does. */
export async function startApiKeyProxy(target: string, server: KeyPair, apiKey: string): Promise<TlsProxy> {
  const counts = { accepted: 0, rejected: 0 };
  const upstream = connectHttp2(`http://${target}`);
  const proxy = createSecureServer(server);
  const sessions = new Set<{ destroy: () => void }>();
  proxy.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => {});
  });
  proxy.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => {});
    if (headers.authorization !== `Bearer ${apiKey}`) {
      counts.rejected++;
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': UNAUTHENTICATED },
        { endStream: true },
      );
      return;
    }
    counts.accepted++;
    const { authorization: _, ':authority': __, ...forwarded } = headers;
    const request = upstream.request({ ...forwarded, ':scheme': 'http' });
    request.on('error', () => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
    let trailers = {};
    request.on('trailers', (received) => (trailers = withoutPseudo(received)));
    request.on('response', (received, flags) => {
      const ends = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
      if (stream.destroyed) return;
      stream.respond({ ...withoutPseudo(received), ':status': 200 }, { endStream: ends, waitForTrailers: !ends });
      stream.once('wantTrailers', () => stream.sendTrailers(trailers));
      if (!ends) request.pipe(stream);
    });
    stream.once('close', () => request.close());
    stream.pipe(request);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    counts,
    close: async () => {
      for (const session of sessions) session.destroy();
      upstream.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

const withoutPseudo = (headers: object) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(':')));
