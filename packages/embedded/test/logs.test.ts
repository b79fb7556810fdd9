import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { followLog, lastLines, formatLogLine } from '../src/logs.ts';

const folder = mkdtempSync(join(tmpdir(), 'postroom-logs-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('warnings, errors and what is no log line at all are shown; the rest stays in the file', () => {
  expect(formatLogLine('{"level":30,"msg":"ready"}')).toBeUndefined();
  expect(formatLogLine('')).toBeUndefined();
  expect(formatLogLine('{"level":40,"msg":"slow"}')).toBe('warning: slow');
  expect(formatLogLine('{"level":50,"msg":"lost","err":{"message":"ECONNREFUSED"}}')).toBe(
    'error: lost (ECONNREFUSED)',
  );
  expect(formatLogLine('TypeError: x is not a function')).toBe('TypeError: x is not a function');
});

test('a program that did not start is quoted with its last error, not with the lines around it', () => {
  const file = join(folder, 'crashed.log');
  writeFileSync(file, 'Error: of an earlier run\n');
  const offset = 'Error: of an earlier run\n'.length;
  expect(lastLines(file, offset)).toBeUndefined();
  appendFileSync(
    file,
    'node:internal:272\n  throw new X(\nError [X]: Cannot find it\n    at resolve (a:1:2)\n\nNode.js v24\n',
  );
  expect(lastLines(file, offset)).toBe('Error [X]: Cannot find it');
});

test('a log is read along from where it was, whole lines only', () => {
  const file = join(folder, 'followed.log');
  writeFileSync(file, 'old\n');
  const lines: string[] = [];
  const stop = followLog(file, 4, (line) => lines.push(line));
  appendFileSync(file, 'first\nsec');
  appendFileSync(file, 'ond\n{"level":30,"msg":"quiet"}\n');
  stop();
  expect(lines).toEqual(['first', 'second']);
});
