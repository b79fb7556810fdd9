import { pool } from '@postroom/platform';
import { type Api, eventually, type Receiver, startReceiver, startTestWorker, testApi } from '@postroom/testkit';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type RecordedAttempt, streamAttempts } from '../src/attempt-stream.ts';
import { currentCursor } from '@postroom/events';

beforeAll(() => startTestWorker());
const receivers: Receiver[] = [];
afterAll(() => Promise.all(receivers.map((receiver) => receiver.close())));

/** An endpoint of a project, with its own receiver. */
async function endpoint(api: Api, answer?: Parameters<typeof startReceiver>[0]): Promise<string> {
  const receiver = await startReceiver(answer);
  receivers.push(receiver);
  return (await api.post('/v1/webhooks', { url: receiver.url, events: ['*'] })).body.data.id;
}

const happen = ({ projectId }: Api, events: number) =>
  pool.query(
    `INSERT INTO events (id, project_id, type, data)
     SELECT postroom_id('evt'), $1, 'email.sent', '{}' FROM generate_series(1, $2)`,
    [projectId, events],
  );

const open: AsyncIterableIterator<RecordedAttempt>[] = [];
afterEach(async () => {
  for (const stream of open.splice(0)) await stream.return?.();
});

/** Reads this many attempts, then leaves. */
async function read(count: number, ...args: Parameters<typeof streamAttempts>): Promise<RecordedAttempt[]> {
  const stream = streamAttempts(...args);
  open.push(stream);
  const all: RecordedAttempt[] = [];
  while (all.length < count) {
    const { value, done } = await stream.next();
    if (done === true) break;
    all.push(value);
  }
  return all;
}

const ids = (attempts: readonly RecordedAttempt[]) =>
  attempts.map(({ deliveryId, number }) => `${deliveryId}.${number}`);

/** The attempts in the tables. */
async function recorded(endpointId: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT a.delivery_id || '.' || a.number AS id FROM attempts a JOIN deliveries d ON d.id = a.delivery_id
     WHERE d.endpoint_id = $1 ORDER BY 1`,
    [endpointId],
  );
  return rows.map(({ id }) => id);
}

test('a reader that reconnects with a cursor gets each attempt since then exactly once, then new ones', async () => {
  const api = await testApi();
  const endpointId = await endpoint(
    api,
    (_, response, count) => void response.writeHead(count % 5 === 0 ? 500 : 204).end(),
  );
  const beginning = await currentCursor(api.projectId);
  await happen(api, 250);
  await eventually(async () => expect(await recorded(endpointId)).toHaveLength(250));
  // In three visits, two of which end mid-page.
  const first = await read(70, api.projectId, { after: beginning });
  const second = await read(85, api.projectId, { after: first.at(-1)?.cursor });
  const third = read(105, api.projectId, { after: second.at(-1)?.cursor });
  await happen(api, 10);
  const all = ids([...first, ...second, ...(await third)]);
  expect(all.toSorted()).toEqual(await recorded(endpointId));
});

test('a stream covers one project, or one endpoint if requested', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const [mine, also] = [await endpoint(api), await endpoint(api)];
  const theirs = await endpoint(other);
  const beginning = await currentCursor(api.projectId);
  await Promise.all([happen(api, 2), happen(other, 3)]);
  for (const [id, count] of [
    [mine, 2],
    [also, 2],
    [theirs, 3],
  ] as const)
    await eventually(async () => expect(await recorded(id)).toHaveLength(count));
  const both = [...(await recorded(mine)), ...(await recorded(also))].toSorted();
  expect(ids(await read(4, api.projectId, { after: beginning })).toSorted()).toEqual(both);
  const one = await read(2, api.projectId, { endpointId: also, after: beginning });
  expect(ids(one).toSorted()).toEqual(await recorded(also));
  await expect(read(1, api.projectId, { endpointId: theirs })).rejects.toMatchObject({ code: 'not_found' });
  await expect(async () => read(1, api.projectId, { after: 'nonsense' })).rejects.toMatchObject({
    code: 'validation_error',
  });
});

test('over Server-Sent Events each attempt comes with its response, its delivery and a cursor', async () => {
  const api = await testApi();
  await endpoint(api, (_, response) => void response.writeHead(200).end('thanks'));
  const after = await currentCursor(api.projectId);
  await happen(api, 1);
  const watching = new AbortController();
  const response = await fetch(`${api.url}/graphql/stream`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${api.key}`, 'Content-Type': 'application/json', Accept: 'text/event-stream' },
    body: JSON.stringify({
      query: `subscription ($after: String) { webhookAttemptRecorded(after: $after) {
        cursor attempt { number status response } delivery { state eventType }
      } }`,
      variables: { after },
    }),
    signal: watching.signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes('cursor')) text += (await reader?.read())?.value ?? '';
  watching.abort();
  expect(text).toContain('"attempt":{"number":1,"status":200,"response":"thanks"}');
  expect(text).toContain('"delivery":{"state":"acknowledged","eventType":"email.sent"}');
});
