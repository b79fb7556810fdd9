import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { startGateway } from '../../src/gateway.ts';

test('a gateway that closes has the readers of its streams connect again, after a short time', async () => {
  const { key } = await testApi();
  const gateway = await startGateway({ host: '127.0.0.1', port: 0 });
  const response = await fetch(`${gateway.url}/graphql/stream`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream', Authorization: `Bearer ${key}` },
    body: JSON.stringify({ query: 'subscription { eventRecorded { id } }' }),
  });
  const [text] = await Promise.all([response.text(), gateway.stop()]);
  const [, delayMs] = /^retry: (\d+)$/m.exec(text) ?? [];
  expect(Number(delayMs)).toBeGreaterThanOrEqual(250);
  expect(Number(delayMs)).toBeLessThanOrEqual(2_000);
  expect(text).not.toContain('event: complete');
});
