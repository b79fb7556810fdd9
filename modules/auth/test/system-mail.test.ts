import { parseRelayUrl } from '@postroom/smtp/relay-url';
import { expect, test } from 'vitest';
import { transportOptions } from '../src/system-mail.ts';

test.each(['smtp://relay.example.com', 'smtps://relay.example.com', 'smtp://relay.example.com:587', 'smtp://[::1]'])(
  'system mail goes to the same port as all other mail: %s',
  (url) => {
    const { host, port, implicitTls } = parseRelayUrl(url);
    expect(transportOptions(url)).toMatchObject({ host, port, secure: implicitTls });
  },
);

test('system mail sends no password in the clear, as other mail does not', () => {
  expect(transportOptions('smtp://user:p%40ss@relay.example.com')).toMatchObject({
    auth: { user: 'user', pass: 'p@ss' },
    requireTLS: true,
  });
  expect(transportOptions('smtp://user:pass@relay.example.com?tls=insecure')).toMatchObject({
    requireTLS: false,
    tls: { rejectUnauthorized: false },
  });
  expect(transportOptions('smtp://user:pass@127.0.0.1').requireTLS).toBe(false);
  expect(transportOptions('smtp://relay.example.com').requireTLS).toBe(false);
  expect(transportOptions('smtp://relay.example.com?tls=required').requireTLS).toBe(true);
});
