import { appendFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { journalWitness } from '../src/journal-witness.ts';
import { SupersededError } from '../src/witness.ts';
import { reservation } from './reservation.ts';

const folder = mkdtempSync(join(tmpdir(), 'postroom-journal-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a journal of several processes gives the last reservation of each scope, and ignores a line that a crash cut off', async () => {
  const [one, other] = [journalWitness(folder), journalWitness(folder)];
  await one.announce([reservation('campaign a', 1, 7), reservation('queue b', 1, 8)]);
  await new Promise((resolve) => setTimeout(resolve, 2)); // a process has one journal, so names differ
  await other.announce([reservation('campaign a', 2, 3)]);
  await one.announce([reservation('campaign a', 1, 9)]);
  appendFileSync(join(folder, readdirSync(folder)[0] ?? ''), '{"scope":"queue b","num');
  const byScope = (await journalWitness(folder).read()).sort((a, b) => (a.scope < b.scope ? -1 : 1));
  expect(byScope).toEqual([reservation('campaign a', 2, 3), reservation('queue b', 1, 8)]);
});

test('a journal resumes once its folder is writable again, and after a line that a full disk cut off', async () => {
  const home = join(folder, 'mounted later');
  writeFileSync(home, 'no folder');
  const journal = journalWitness(home);
  await expect(journal.announce([reservation('campaign a', 1, 1)])).rejects.toThrow();
  rmSync(home);
  await journal.announce([reservation('campaign a', 1, 2)]);
  appendFileSync(join(home, readdirSync(home)[0] ?? ''), '{"scope":"campaign a","num');
  await journal.announce([reservation('campaign a', 1, 3)]);
  expect(await journal.read()).toEqual([reservation('campaign a', 1, 3)]);
});

test('once a later epoch has begun, reservations of the earlier one are refused, and stay known', async () => {
  const home = join(folder, 'failover');
  const [before, after] = [journalWitness(home), journalWitness(home)];
  await before.announce([reservation('campaign a', 1, 1)]);
  await before.checkEpoch(1);
  await after.beginEpoch(reservation('installation', 2, 2));
  await expect(before.checkEpoch(1)).rejects.toThrow(SupersededError);
  await after.checkEpoch(2);
  await expect(before.announce([reservation('campaign a', 1, 2)])).rejects.toThrow(SupersededError);
  await after.announce([reservation('queue b', 2, 3)]);
  const known = (await journalWitness(home).read()).map(({ scope, epoch }) => [scope, epoch]).sort();
  expect(known).toEqual([
    ['campaign a', 1],
    ['installation', 2],
    ['queue b', 2],
  ]);
});
