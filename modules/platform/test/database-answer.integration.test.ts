import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { databaseAnswerOf, isOutage, mayHaveCommitted, RetryLater } from '@postroom/errors';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { expect, test } from 'vitest';
import { PrismaClient } from '../generated/prisma/client.ts';
import { pool } from '../src/db.ts';

/** What PostgreSQL sends to a new connection when its disk is full and it has to write a file first. */
const FULL_DISK = (() => {
  const fields = 'SFATAL\0VFATAL\0CXX000\0Mcould not write init file\0\0';
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + fields.length);
  return Buffer.concat([Buffer.from('E'), length, Buffer.from(fields)]);
})();

type Failure = 'none' | 'reset' | 'end' | 'full';

/** The error that pg, or Prisma, throws if the server does this to a connection. */
async function failureOf(answer: Failure, query = (pool: pg.Pool): Promise<unknown> => pool.query('SELECT 1')) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    if (answer === 'reset') socket.resetAndDestroy();
    else if (answer === 'full') socket.once('data', () => socket.end(FULL_DISK));
    else socket.end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  if (answer === 'none') await new Promise((resolve) => server.close(resolve));
  const pool = new pg.Pool({ host: '127.0.0.1', port });
  const error: unknown = await query(pool).catch((reason: unknown) => reason);
  await pool.end();
  server.close();
  return error;
}

test.each(['none', 'reset', 'end', 'full'] as const)(
  'a database that cannot be reached is a RetryLater and an outage: %s',
  async (answer) => {
    const error = await failureOf(answer);
    const answered = databaseAnswerOf(error);
    expect(answered).toBeInstanceOf(RetryLater);
    expect(answered?.code).toBe('timeout');
    expect(isOutage(error)).toBe(true);
  },
);

test('so it is when Prisma finds that out', async () => {
  const error = await failureOf('full', (pool) => new PrismaClient({ adapter: new PrismaPg(pool) }).project.count());
  expect(databaseAnswerOf(error)).toBeInstanceOf(RetryLater);
  expect(isOutage(error)).toBe(true);
});

test('a transaction that gets no connection in time has certainly not been carried out', async () => {
  const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 1 });
  const taken = await pool.connect();
  const client = new PrismaClient({ adapter: new PrismaPg(pool), transactionOptions: { maxWait: 50 } });
  const error: unknown = await client.$transaction((tx) => tx.project.count()).catch((reason: unknown) => reason);
  expect(databaseAnswerOf(error)).toBeInstanceOf(RetryLater);
  expect(mayHaveCommitted(error)).toBe(false);
  taken.release();
  await pool.end();
});

test('a connection that breaks while a statement runs leaves its outcome unknown', async () => {
  expect(mayHaveCommitted(await failureOf('end'))).toBe(true);
  expect(mayHaveCommitted(await failureOf('none'))).toBe(false);
});

test('a standby is a reason to try again, since the primary is elsewhere', async () => {
  const readOnly = new pg.Pool({
    connectionString: process.env.DATABASE_URL,
    options: '-c default_transaction_read_only=on',
  });
  const remove = [
    () => readOnly.query(`DELETE FROM projects WHERE id = 'none'`),
    () => new PrismaClient({ adapter: new PrismaPg(readOnly) }).project.deleteMany({ where: { id: 'none' } }),
  ];
  for (const attempt of remove) {
    const error: unknown = await attempt().catch((reason: unknown) => reason);
    expect(databaseAnswerOf(error)).toMatchObject({ code: 'timeout', retryAfterSeconds: 5 });
  }
  await readOnly.end();
});

test('an error in our code is not blamed on the database', () => {
  expect(databaseAnswerOf(new TypeError('x is not a function'))).toBeUndefined();
});

test('what is away for a while is an outage; what is wrong with the data or the code is none', async () => {
  const [refused] = (await once(connect(1, '127.0.0.1'), 'error').catch((error: unknown) => [error])) as [Error];
  expect(isOutage(refused)).toBe(true);
  expect(isOutage(Object.assign(new Error('x'), { code: '57P01', severity: 'FATAL' }))).toBe(true);
  expect(isOutage(new Error('wrapped', { cause: refused }))).toBe(true);
  expect(isOutage(new Error('Connection terminated unexpectedly'))).toBe(true);
  expect(isOutage(await pool.query(`SELECT 'x'::int`).catch((error: unknown) => error))).toBe(false);
  expect(isOutage(await pool.query('SELECT 1/0').catch((error: unknown) => error))).toBe(false);
  expect(isOutage(new RangeError('Maximum call stack size exceeded'))).toBe(false);
});
