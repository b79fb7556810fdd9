import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { LimitedSmtpServer, networkOf } from '../src/smtp-server.ts';

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::6', '2001:db8:1:2'],
  ['2001:0db8:0001:0002::', '2001:db8:1:2'],
  ['2001:db8::6', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['', ''],
])('a client at %s has its addresses from %s', (address, network) => expect(networkOf(address)).toBe(network));

test('clients that are not trusted yet hold half of the slots at most: the oldest gives way', async () => {
  const server = new LimitedSmtpServer(
    { disabledCommands: ['AUTH', 'STARTTLS'], disableReverseLookup: true },
    { total: 4, perAddress: 100, untrustedMs: 60_000 },
  );
  const sessions: Parameters<LimitedSmtpServer['trust']>[0][] = [];
  server.onConnect = (session, callback) => (sessions.push(session), callback());
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  const open = async () => {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    expect(String((await once(socket, 'data'))[0])).toMatch(/^220/);
    return socket;
  };
  const trusted = await open();
  server.trust(sessions[0]!);
  const [oldest, younger] = [await open(), await open()];
  const told = once(oldest, 'data');
  const last = await open();
  expect(String((await told)[0])).toMatch(/^421 /);
  for (const socket of [trusted, younger, last]) {
    socket.write('NOOP\r\n');
    expect(String((await once(socket, 'data'))[0])).toMatch(/^250/);
    socket.destroy();
  }
  await new Promise<void>((resolve) => server.close(() => resolve()));
});
