import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { expect, test } from 'vitest';
import { describeConnectionError } from '../src/connection-errors.ts';

/** The error of a connection, as Node reports it. */
const errorOf = async (socket: Socket): Promise<string> =>
  describeConnectionError(((await once(socket, 'error')) as [Error])[0]);

test('a failed connection is described by its cause, what to do, and its code', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('220 mail.example.com ESMTP\r\n', () => socket.destroySoon());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  expect(await errorOf(connectTls({ host: '127.0.0.1', port }))).toMatch(
    /^The mail server does not speak TLS on this port\. Check the port and the encryption \(E\w+\)$/,
  );
  server.close();
  await once(server, 'close');
  expect(await errorOf(connect(port, '127.0.0.1'))).toBe(
    'The mail server refused the connection. Check the host and the port (ECONNREFUSED)',
  );
  expect(await errorOf(connect(25, 'mail.example.invalid'))).toMatch(
    /^The hostname mail\.example\.invalid .+ \((ENOTFOUND|EAI_AGAIN)\)$/,
  );
});

test('a server and a client without a common version of TLS, or a cipher, are told apart', async () => {
  const handshake = async (options: TlsOptions) => {
    const server = createTlsServer(options).listen(0, '127.0.0.1');
    server.on('tlsClientError', () => {});
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return errorOf(connectTls({ host: '127.0.0.1', port })).finally(() => server.close());
  };
  expect(await handshake({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1' })).toMatch(
    /^The mail server supports no version of TLS from 1\.2 on\. Enable one \(ERR_SSL_\w+\)$/,
  );
  // It has no certificate.
  expect(await handshake({})).toMatch(
    /^The TLS handshake with the mail server failed\. Check its versions of TLS and its ciphers \(ERR_SSL_\S+\)$/,
  );
});

test('an error without a known cause keeps its text, and one without a text has a name', () => {
  const describe = (message: string, code?: string) =>
    describeConnectionError(Object.assign(new Error(message), { code }));
  expect(describe('connect EACCES', 'EACCES')).toBe('connect EACCES');
  expect(describe('write', 'ECANCELED')).toBe('write (ECANCELED)');
  expect(describe('')).toBe('Connection error');
});
