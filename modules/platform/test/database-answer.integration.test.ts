import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { databaseAnswerOf, RetryLater } from '@postroom/errors';
import pg from 'pg';
import { expect, test } from 'vitest';

/** The error that pg throws if the server does this to a connection. */
async function failureOf(answer: 'none' | 'reset' | 'end'): Promise<unknown> {
  const server = createServer((socket) => (answer === 'reset' ? socket.resetAndDestroy() : socket.end()));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  if (answer === 'none') await new Promise((resolve) => server.close(resolve));
  const pool = new pg.Pool({ host: '127.0.0.1', port });
  const error: unknown = await pool.query('SELECT 1').catch((reason: unknown) => reason);
  await pool.end();
  server.close();
  return error;
}

test.each(['none', 'reset', 'end'] as const)(
  'a database that cannot be reached is a RetryLater: %s',
  async (answer) => {
    const answered = databaseAnswerOf(await failureOf(answer));
    expect(answered).toBeInstanceOf(RetryLater);
    expect(answered?.code).toBe('timeout');
  },
);

test('an error in our code is not blamed on the database', () => {
  expect(databaseAnswerOf(new TypeError('x is not a function'))).toBeUndefined();
});
