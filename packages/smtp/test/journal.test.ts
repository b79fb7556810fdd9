import { expect, test } from 'vitest';
import { createSmtpPool } from '../src/index.ts';
import { ScriptedServer } from './scripted-server.ts';

const PIPELINING = ['PIPELINING', '8BITMIME'];

/** What a journal has stored. */
class Journal {
  readonly stored = new Set<string>();
  #queued: string[] = [];

  writing(id: string): void {
    this.#queued.push(id);
  }

  flush(): void {
    for (const id of this.#queued) this.stored.add(id);
    this.#queued = [];
  }
}

test.each([
  ['one command at a time', []],
  ['with pipelining', PIPELINING],
  ['in batches', [...PIPELINING, 'CHUNKING']],
])('a message is in its journal before its last octet arrives, and not before its first, %s', async (_how, offers) => {
  const journal = new Journal();
  const wrong: string[] = [];
  let to = '';
  await using server = await ScriptedServer.start({
    offers,
    act: (stage, _nth, line) => {
      to = /^RCPT.*?(\d+)@/.exec(line)?.[1] ?? to;
      if (stage === 'data' && journal.stored.has(to)) wrong.push(`${to} too early`);
      if (stage === 'dot' && to !== '0' && !journal.stored.has(to)) wrong.push(`${to} too late`);
      return stage === 'rcpt' && to === '0' ? '550 5.1.1 no such user' : undefined;
    },
  });
  const pool = createSmtpPool(server.url, { connections: 1 });
  const outcomes = await Promise.all(
    Array.from({ length: 30 }, (_, nth) =>
      pool.send({
        id: String(nth),
        journal,
        from: 'a@example.com',
        to: `user${nth}@example.com`,
        data: 'Subject: Hi\r\n\r\nHello\r\n',
      }),
    ),
  );
  await pool.close();
  expect(outcomes.map(({ kind }) => kind)).toEqual(['refused', ...Array(29).fill('accepted')]);
  expect(wrong).toEqual([]);
  // The server refused the first before it had its data.
  expect([...journal.stored]).toEqual(Array.from({ length: 29 }, (_, nth) => String(nth + 1)));
});
