import { startReceiver } from '@postroom/testkit/local';
import { expect, test } from 'vitest';
import { createGuardedClient } from '@postroom/guarded-client';
import { POLICY } from '../src/policy.ts';
import { renderBody } from '../src/payload.ts';

const event = {
  event_id: 'evt_1',
  event_type: 'contact.created',
  event_created_at: new Date('2026-11-21T09:30:00Z'),
  project_id: 'prj_1',
};

test('user text in data cannot escape it or add members to the body', () => {
  const data = {
    name: '"}, "type": "webhook.test", "id": "evt_2", "data": {"',
    '"},"project_id":"prj_2",{"': '\\"}\n\r\u0000\u2028</script>',
    ['__proto__']: { type: 'email.sent' },
  };
  const body = JSON.parse(renderBody({ ...event, data: JSON.stringify(data) }));
  expect(Object.keys(body)).toEqual(['id', 'type', 'created', 'project_id', 'data']);
  expect(body).toEqual({
    id: 'evt_1',
    type: 'contact.created',
    created: '2026-11-21T09:30:00.000Z',
    project_id: 'prj_1',
    data,
  });
});

test('no URL can inject a header or a request', async () => {
  const receiver = await startReceiver();
  const client = createGuardedClient({ scope: 'loopback', ...POLICY.attempt });
  const ends = [
    '\r\nX-Evil: 1\r\n\r\nPOST /second HTTP/1.1\r\n',
    '%0d%0aX-Evil: 1%0d%0a',
    ' HTTP/1.1\nX-Evil: 1',
    '#\r\nX-Evil: 1',
  ];
  for (const end of ends) {
    const { status } = await client.post({
      url: `${receiver.url}/hook${end}`,
      headers: () => ({}),
      body: '{"id":"evt_1"}',
    });
    expect(status).toBe(204);
  }
  expect(receiver.received).toHaveLength(ends.length);
  for (const { headers } of receiver.received) expect(headers).not.toHaveProperty('x-evil');
  await client.close();
  await receiver.close();
});
