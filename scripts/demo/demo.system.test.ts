import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '@postroom/embedded';
import { startSystem, type System } from '@postroom/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { figure, runScript } from '../run-script.ts';

const ROOT = join(import.meta.dirname, '../..');

let dataDir: string;
let system: System;
let inbox: ChildProcess;

/** A separate system with an inbox, and the file through which the demo finds it. */
beforeAll(async () => {
  const [smtpPort = 0, webPort = 0] = await freePorts(2);
  system = await startSystem({ smtpUrl: `smtp://127.0.0.1:${smtpPort}` });
  inbox = fork(join(ROOT, 'apps/inbox/src/main.ts'), {
    execArgv: [],
    env: {
      ...process.env,
      LOG_LEVEL: 'error',
      DATABASE_URL: system.pool.options.connectionString,
      PUBLIC_URL: system.url,
      INBOX_SMTP_PORT: String(smtpPort),
      INBOX_WEB_PORT: String(webPort),
    },
  });
  await once(inbox, 'message');
  await system.startWorker();
  const { projectId, key } = await system.api();
  dataDir = mkdtempSync(join(tmpdir(), 'postroom-demo-test-'));
  const devFile = {
    url: system.url,
    temporalUiUrl: process.env.TEMPORAL_UI_URL,
    inboxUrl: `http://127.0.0.1:${webPort}`,
    projects: [{ id: projectId, name: 'Test' }],
    keys: { full: key },
  };
  writeFileSync(join(dataDir, 'dev.json'), JSON.stringify(devFile));
}, 120_000);

afterAll(async () => {
  inbox.kill();
  await system.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Runs the demo as `npm run demo` does. */
function demo(csv: string | Buffer, ...options: string[]) {
  const file = join(dataDir, 'contacts.csv');
  writeFileSync(file, csv);
  return runScript(join(ROOT, 'scripts/demo/main.ts'), file, '--data', dataDir, ...options);
}

const rough = execFileSync(process.execPath, [join(ROOT, 'samples/make-contacts.mjs'), '--rows', '460', '--rough']);

test('the demo imports the good rows, reports the others by line, and nothing is lost or duplicated, also on a second run', async () => {
  for (const imported of ['455 new, 0 already existing', '0 new, 455 already existing']) {
    const { output, code } = await demo(rough);
    expect(output).toContain('Nothing lost, nothing duplicated.');
    expect(code).toBe(0);
    expect(output).toContain(imported);
    expect(output.match(/^ +line \d+: .*$/gm)?.map((line) => line.trim())).toEqual([
      'line 52: email is required',
      'line 102: email must be a single email address',
      'line 152: custom_fields.seats must be a number',
      'line 202: custom_fields.signed_up must be a date such as 2026-11-21',
      'line 252: row 7 columns instead of 6',
      'line 352: email is on an earlier line too',
      'line 454: email must be an email address such as ada@example.com',
    ]);
    expect(figure(output, 'Recipients')).toBe('455');
    expect(figure(output, 'Delivered')).toBe('455');
    expect(figure(output, 'Events received')).toBe('912');
    expect(figure(output, 'Signatures verified')).toBe('912 of 912');
    expect(figure(output, 'Duplicates \\(mails, events\\)')).toBe('0, 0');
    expect(figure(output, 'Losses \\(mails, events\\)')).toBe('0, 0');
    expect(figure(output, 'Rows not imported')).toBe('5');
    expect(output).toMatch(/Campaign workflow +http\S+\/cmp_[0-9a-z]{26}$/m);
    expect(output).toMatch(/A webhook delivery +http\S+\/history$/m);
  }
}, 180_000);

test('a file with other columns, in another encoding, with every outcome of mail', async () => {
  const text = `Prénom;Courriel;Ville\r\nZoé;zoe@example.org;Nîmes\r\n;bounced@simulator.invalid;\r\n;complained@simulator.invalid;\r\n;refused@simulator.invalid;\r\n;opened@simulator.invalid;\r\n;clicked@simulator.invalid;\r\n`;
  const { output, code } = await demo(Buffer.from(text, 'latin1'));
  expect(output).toContain('Nothing lost, nothing duplicated.');
  expect(code).toBe(0);
  expect(output).toContain('windows-1252, separated by semicolons');
  expect(figure(output, 'Accepted by the mail server')).toBe('5');
  expect(figure(output, 'Rejected by the mail server')).toBe('1');
  expect(figure(output, 'Delivered')).toBe('4');
  expect(figure(output, 'Opened')).toBe('2');
  expect(figure(output, 'Clicked')).toBe('1');
  expect(figure(output, 'Bounced')).toBe('1');
  expect(figure(output, 'Complained')).toBe('1');
}, 120_000);

test('an unusable file is rejected with a sentence', async () => {
  expect(await demo('name,city\nAda,Bonn\n')).toEqual({
    output: expect.stringContaining('✗ No column is named email or contains addresses; the columns are: name, city.'),
    code: 1,
  });
});

test('an option that does not exist is refused in a sentence', async () => {
  expect(await demo('email\nada@example.org\n', '--count')).toEqual({
    output: expect.stringMatching(/^✗ Unknown option '--count'\. See npm run demo -- --help\.\s*$/),
    code: 1,
  });
});
