import { expect, test } from 'vitest';
import { decodeCursor, type SnapshotCursor, cursorFrom, cursorUpTo, encodeCursor } from '../src/index.ts';

interface Event {
  xact: bigint;
  id: string;
}

/** A server with transactions that begin, record and end in any order, and a reader of pages, as PostgreSQL would be. */
class Model {
  next = 100n;
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
      return { ...event, cursor: encodeCursor(after) };
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
      const rest = model.readAll(decodeCursor(cursor), 2);
      expect(ids(rest).sort(), `seed ${seed}, after ${index}`).toEqual(ids(told.slice(index + 1)).sort());
    }
  }
}, 60_000);

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
