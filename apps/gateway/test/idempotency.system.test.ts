import { randomUUID } from 'node:crypto';
import { createDatabase, startDatabaseProxy, startSystem } from '@postroom/testkit';
import { expect, onTestFinished, test } from 'vitest';

test(
  'when the connection breaks while an email is being stored, a repetition with the same key gets its response',
  { timeout: 240_000 },
  async () => {
    const database = await createDatabase('idempotency');
    const proxy = await startDatabaseProxy(database.url);
    const system = await startSystem({ databaseUrl: proxy.url, smtpUrl: 'smtp://127.0.0.1:9' });
    onTestFinished(async () => {
      proxy.watch(() => undefined);
      await system.stop();
      await proxy.close();
      await database.drop();
    });
    const { key } = await system.api();
    const idempotencyKey = randomUUID();
    const send = async () => {
      const response = await fetch(`${system.url}/v1/emails`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${key}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': idempotencyKey,
        },
        body: JSON.stringify({ from: 'post@example.com', to: 'ada@example.net', subject: 'Receipt', text: 'Thanks.' }),
      });
      return { status: response.status, isReplayed: response.headers.get('idempotent-replayed') };
    };
    proxy.watch(({ text }) => (text.includes('INSERT INTO messages') ? 'reply-lost' : undefined));
    expect(await send()).toMatchObject({ status: 503 });
    proxy.watch(() => undefined);
    // The response was committed together with the email.
    expect(await send()).toMatchObject({ status: 202, isReplayed: 'true' });
    const { rows } = await system.pool.query<{ count: number }>('SELECT count(*)::int AS count FROM messages');
    expect(rows).toEqual([{ count: 1 }]);
  },
);
