import { expect, test } from 'vitest';
import { parseConfig } from './config.ts';

test.each(['DATABASE_URL', 'GATEWAY_PORT', 'LOG_LEVEL'])(
  'a bad value in the environment is named, all of them at once: %s',
  (name) => {
    expect(() => parseConfig({ GATEWAY_PORT: 'abc', DATABASE_URL: 'mysql://x/y', LOG_LEVEL: 'loud' })).toThrow(
      `${name}: `,
    );
  },
);

test('an empty variable counts as not given', () => {
  expect(parseConfig({ GATEWAY_PORT: '', PUBLIC_URL: '' }).PUBLIC_URL).toBe('http://127.0.0.1:3400');
});

test('private webhook targets and the explorer are closed in production and open in development', () => {
  expect(parseConfig({ NODE_ENV: 'production' })).toMatchObject({
    WEBHOOKS_ALLOW_PRIVATE: false,
    GRAPHQL_EXPLORER: false,
  });
  expect(parseConfig({ NODE_ENV: 'development' })).toMatchObject({
    WEBHOOKS_ALLOW_PRIVATE: true,
    GRAPHQL_EXPLORER: true,
  });
});

test('a secret key of the wrong length is refused', () => {
  expect(() => parseConfig({ POSTROOM_SECRET_KEY: Buffer.alloc(16).toString('base64') })).toThrow(
    /POSTROOM_SECRET_KEY: must hold 32 bytes/,
  );
});
