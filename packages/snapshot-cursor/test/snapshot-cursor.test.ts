import { expect, test } from 'vitest';
import { decodeCursor, type SnapshotCursor, cursorFrom, cursorUpTo, encodeCursor, shiftCursor } from '../src/index.ts';

interface Event {
  xact: bigint;
  id: string;
}

/** A server with transactions that begin, record and end in any order, and a reader of pages, as PostgreSQL would be. */
class Model {
  next = 100n;
  moves = 0;
  running = new Set<bigint>();
  events: Event[] = [];
  #recorded: Event[] = [];
  #ids = 0;

  step(random: () => number): void {
    const [some] = [...this.running].sort(() => random() - 0.5);
    const dice = random();
    if (dice < 0.3 || some === undefined) this.running.add(this.next++);
    else if (dice < 0.75) this.#recorded.push({ xact: some, id: `evt_${String(++this.#ids).padStart(6, '0')}` });
    else this.end(some, random() < 0.8);
  }

  /** The events are copied to another server, which has its own numbers. */
  move(shift: bigint, next: bigint): void {
    this.events = this.events.map((event) => ({ ...event, xact: event.xact - shift }));
    this.running.clear();
    this.next = next;
    this.moves++;
  }

  end(xact: bigint, commits: boolean): void {
    this.running.delete(xact);
    if (commits) this.events.push(...this.#recorded.filter((event) => event.xact === xact));
  }

  read(
    seen: SnapshotCursor,
    pageSize: number,
  ): { page: (Event & { cursor: string })[]; seen: SnapshotCursor; isLast: boolean } {
    const lowest = [...this.running].reduce((low, xact) => (xact < low ? xact : low), this.next);
    const now = cursorFrom(`${lowest}:${this.next}:${[...this.running].sort(ascending).join(',')}`);
    const unseen = this.events
      .filter(
        ({ xact, id }) =>
          xact >= seen.before || (seen.running.includes(xact) && (xact !== seen.partly?.xact || id > seen.partly.id)),
      )
      .sort((a, b) => ascending(rank(a, seen), rank(b, seen)) || ascending(a.xact, b.xact) || (a.id < b.id ? -1 : 1))
      .slice(0, pageSize);
    const isLast = unseen.length < pageSize;
    let after = seen;
    const page = unseen.map((event, index) => {
      after = isLast && index === unseen.length - 1 ? now : cursorUpTo(seen, now, event);
      return { ...event, cursor: encodeCursor(after, this.moves) };
    });
    return { page, seen: isLast ? now : after, isLast };
  }

  readAll(from: SnapshotCursor, pageSize: number): (Event & { cursor: string })[] {
    const all = [];
    for (let seen = from; ;) {
      const { page, seen: after, isLast } = this.read(seen, pageSize);
      all.push(...page);
      if (isLast) return all;
      seen = after;
    }
  }
}

const rank = ({ xact }: Event, seen: SnapshotCursor) => (xact === seen.partly?.xact ? 0n : 1n);
const ascending = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0);

test('every cursor yields exactly what came after it, in two hundred random histories', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = randomFrom(seed);
    const model = new Model();
    let seen: SnapshotCursor = { before: 100n, running: [] };
    const told: (Event & { cursor: string })[] = [];
    for (let step = 0; step < 120; step++) {
      model.step(random);
      if (random() > 0.2) continue;
      const read = model.read(seen, 3);
      told.push(...read.page);
      seen = read.seen;
    }
    for (const xact of model.running) model.end(xact, true);
    told.push(...model.readAll(seen, 3));
    const ids = (events: readonly Event[]) => events.map(({ id }) => id);
    expect(ids(told).sort(), `seed ${seed}`).toEqual(ids(model.events).sort());
    for (const [index, { cursor }] of told.entries()) {
      const rest = model.readAll(decodeCursor(cursor).cursor, 2);
      expect(ids(rest).sort(), `seed ${seed}, after ${index}`).toEqual(ids(told.slice(index + 1)).sort());
    }
  }
}, 60_000);

test('cursors from before the rows were copied to another server yield exactly what came after them, in a hundred random histories', () => {
  for (let seed = 1; seed <= 100; seed++) {
    const random = randomFrom(seed);
    const model = new Model();
    const shifts: bigint[] = [];
    let seen: SnapshotCursor = { before: 100n, running: [] };
    const told: (Event & { cursor: string })[] = [];
    const read = () => {
      const { page, seen: after } = model.read(seen, 3);
      told.push(...page);
      seen = after;
    };
    for (const next of [5n, 1_000_000n, 3n]) {
      for (let step = 0; step < 60; step++) {
        model.step(random);
        if (random() < 0.2) read();
      }
      for (const xact of model.running) model.end(xact, true);
      const shift = model.next;
      // While the rows are copied other projects write, and a reader is late.
      for (let other = 0; other < 3; other++) model.running.add(model.next++);
      if (random() < 0.5) read();
      model.move(shift, next);
      shifts.push(shift);
      seen = shiftCursor(seen, shift);
    }
    told.push(...model.readAll(seen, 3));
    const ids = (events: readonly Event[]) => events.map(({ id }) => id);
    expect(ids(told).sort(), `seed ${seed}`).toEqual(ids(model.events).sort());
    for (const [index, { cursor: text }] of told.entries()) {
      const { cursor, moves } = decodeCursor(text);
      const rest = model.readAll(shifts.slice(moves).reduce(shiftCursor, cursor), 2);
      expect(ids(rest).sort(), `seed ${seed}, after ${index}`).toEqual(ids(told.slice(index + 1)).sort());
    }
  }
}, 60_000);

test('what is no cursor is rejected', () => {
  const encoded = (text: string) => Buffer.from(text, 'latin1').toString('base64url');
  for (const text of ['', 'a!', '-a', 'a.b', '0', 'a@', 'a@0', 'a@x', 'a@1@1', '-@1', 'a~b@1'])
    expect(() => decodeCursor(encoded(text)), text).toThrow('is not a cursor issued by this stream');
  for (const text of [`${encoded('a.b')}x`, `${encoded('a.b')}=`, ` ${encoded('a.b')}`, `${encoded('a.b')}!`])
    expect(() => decodeCursor(text), text).toThrow('is not a cursor issued by this stream');
  expect(decodeCursor(encoded('-a.b@2'))).toEqual({ cursor: { before: -10n, running: [-21n] }, moves: 2 });
});

/** Mulberry32: the same numbers for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
