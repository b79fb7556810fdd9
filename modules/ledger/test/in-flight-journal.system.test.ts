import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  closeInFlightJournals,
  openInFlightJournal,
  openInFlightJournals,
  readEndedJournal,
  readEndedJournals,
  removeJournal,
  removeLeftovers,
} from '../src/in-flight-journal.ts';
import { newClaim } from '../src/claim.ts';
import type { Settlement } from '../src/settlement.ts';

const WRITER = join(import.meta.dirname, 'in-flight-journal.worker.ts');
const accepted = (id: string): Settlement => ({ id, state: 'accepted', answer: '250 für Sie' });

let folder: string;
let children: ChildProcess[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'postroom-in-flight-'));
  children = [];
  await openInFlightJournals(folder);
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await closeInFlightJournals();
  rmSync(folder, { recursive: true });
});

const journal = (claim: string) => openInFlightJournal({ claim, scope: { campaignId: 'cmp_1' }, epoch: 3 });
const files = () => readdirSync(folder).filter((name) => name.endsWith('.journal'));
const pathOf = (claim: string) => join(folder, files().find((name) => name.includes(`.${claim}.`)) ?? '');

/** A journal that its process has ended without its outcomes being recorded. */
function ended(claim: string) {
  const opened = journal(claim);
  opened.writing('msg_1');
  opened.writing('msg_2');
  opened.flush();
  opened.answered(accepted('msg_1'));
  opened.close({ isRecorded: false });
}

/** Another process with a journal, once it has written its notes. */
async function writer(claim: string, { notes = 0, maxBytes = 0 } = {}) {
  const limit = maxBytes === 0 ? '' : `ulimit -f ${maxBytes / 512}; `;
  const command = `${limit}exec "${process.execPath}" "${WRITER}" "${folder}" ${claim} ${notes}`;
  const child = spawn('sh', ['-c', command], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, NODE_ENV: 'test', LOG_LEVEL: 'warn' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  children.push(child);
  const untilWritten = async (times: number) => {
    while (output.split('written\n').length <= times) await once(child.stdout, 'data');
  };
  await untilWritten(1);
  return {
    output: () => output,
    write: async (id: string) => {
      child.stdin.write(`${id}\n`);
      await untilWritten(2);
    },
    kill: async () => {
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}

test('a journal tells which messages were written and which were answered, once its process ends it or has died', async () => {
  ended('own');
  expect(await readEndedJournal('own')).toMatchObject({
    claim: 'own',
    scope: { campaignId: 'cmp_1' },
    epoch: 3,
    written: new Set(['msg_1', 'msg_2']),
    answered: new Map([['msg_1', accepted('msg_1')]]),
  });
  expect(await readEndedJournal('wn')).toBeUndefined();
});

test('a claim of a workflow, whose name contains a slash, has a journal, until it is removed', async () => {
  const claim = newClaim('eml_1');
  ended(claim);
  expect(await readEndedJournal(claim)).toMatchObject({ claim, written: new Set(['msg_1', 'msg_2']) });
  removeJournal(claim);
  expect(files()).toEqual([]);
});

test('the journal of a running process is not read, and that of a killed one is complete', async () => {
  const one = await writer('other', { notes: 1 });
  expect(await readEndedJournal('other')).toBeUndefined();
  await one.write('msg_late');
  await one.kill();
  expect((await readEndedJournal('other'))?.written).toEqual(new Set(['msg_0', 'msg_late']));
}, 20_000);

test('a process is not taken for dead because its socket was deleted', async () => {
  const one = await writer('cleaned', { notes: 1 });
  for (const name of readdirSync(folder)) if (name.endsWith('.sock')) rmSync(join(folder, name));
  await one.kill();
  expect(await readEndedJournal('cleaned')).toBeUndefined();
}, 20_000);

test('an open journal of this process is not read', async () => {
  const opened = journal('open');
  opened.writing('msg_1');
  opened.flush();
  expect(await readEndedJournals()).toEqual([]);
  opened.close({ isRecorded: false });
  expect(await readEndedJournals()).toHaveLength(1);
});

test('a journal is removed once all outcomes are recorded', () => {
  const opened = journal('done');
  opened.writing('msg_1');
  opened.answered(accepted('msg_1'));
  opened.close({ isRecorded: true });
  expect(files()).toEqual([]);
});

test.each([
  ['an id', 'W msg_', ['msg_1', 'msg_2']],
  ['an outcome', 'R {"id":"msg_2","state":"acc', ['msg_1', 'msg_2']],
])(
  'a last line that the kill cut off within %s is ignored, since its message was not written',
  async (_what, torn, written) => {
    ended('torn');
    const path = pathOf('torn');
    appendFileSync(path, torn);
    expect([...((await readEndedJournal('torn'))?.written ?? [])]).toEqual(written);
  },
);

test('a journal is of no use after the machine was restarted, in another format, or with a line that is none', async () => {
  for (const [claim, spoil] of [
    ['boot', (text: string) => text.replace(/"boot":"[^"]+"/, '"boot":"another"')],
    ['version', (text: string) => text.replace('"version":1', '"version":2')],
    ['line', (text: string) => text.replace('W msg_2', '')],
    ['header', (text: string) => text.slice(1)],
    ['empty', () => ''],
  ] as const) {
    ended(claim);
    writeFileSync(pathOf(claim), spoil(readFileSync(pathOf(claim), 'utf8')));
    expect(await readEndedJournal(claim), claim).toBeUndefined();
  }
  expect(files()).toHaveLength(5);
  await closeInFlightJournals();
  await openInFlightJournals(folder);
  await removeLeftovers();
  expect(files()).toEqual([]);
});

test('on a full disk the process goes on without the journal, so that its messages are unknown after a kill', async () => {
  const one = await writer('full', { notes: 200, maxBytes: 1024 });
  expect(files()).toEqual([]);
  await one.write('msg_later');
  expect(one.output()).toContain('journal not written');
}, 20_000);

test('an unusable folder is a warning, and journals are not kept', async () => {
  await closeInFlightJournals();
  writeFileSync(join(folder, 'file'), '');
  await openInFlightJournals(join(folder, 'file', 'below'));
  expect(() => ended('none')).not.toThrow();
  expect(await readEndedJournals()).toEqual([]);
});
