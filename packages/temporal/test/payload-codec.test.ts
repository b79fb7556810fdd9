import { defaultPayloadConverter } from '@temporalio/common';
import { expect, test } from 'vitest';
import { payloadCodec } from '../src/payload-codec.ts';

const key = (id: string, fill: number) => ({ id, bytes: Buffer.alloc(32, fill) });
const [old, current] = [key('0000000a', 1), key('0000000b', 2)];
const payload = (value: unknown) => defaultPayloadConverter.toPayload(value);

test('what Temporal stores is unreadable without the key, and comes back as it was', async () => {
  const codec = payloadCodec([current], true);
  const given = [payload('cmp_secret'), payload({ counts: [1, 2] })];
  const stored = await codec.encode(given);
  expect(JSON.stringify(stored.map(({ data }) => Buffer.from(data ?? []).toString('latin1')))).not.toContain('cmp_');
  expect((await codec.decode(stored)).map((each) => defaultPayloadConverter.fromPayload(each))).toEqual([
    'cmp_secret',
    { counts: [1, 2] },
  ]);
});

test('after a rotation or after encryption is switched off, older payloads can still be read', async () => {
  const [stored] = await payloadCodec([old], true).encode([payload('before')]);
  for (const encrypts of [true, false]) {
    const [opened] = await payloadCodec([current, old], encrypts).decode([stored!]);
    expect(defaultPayloadConverter.fromPayload(opened!)).toBe('before');
  }
  await expect(payloadCodec([current], true).decode([stored!])).rejects.toThrow(
    'encrypted with the key 0000000a, which is not configured',
  );
});

test('payloads from before encryption pass, and an altered one is rejected', async () => {
  const codec = payloadCodec([current], true);
  const plain = payload('plain');
  expect(await codec.decode([plain])).toEqual([plain]);
  const [stored] = await codec.encode([plain]);
  const altered = Buffer.from(stored?.data ?? []);
  altered[altered.length - 1]! ^= 1;
  await expect(codec.decode([{ ...stored, data: altered }])).rejects.toThrow();
});
