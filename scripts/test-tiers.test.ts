import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const TESTS = '{apps,modules,packages,sdk,workflows,scripts}/**/*.test.{ts,tsx,mjs}';

const imports = (what: string, from: string) => new RegExp(`^import (type )?${what}[^;]*from '${from}'`, 'm');

/** A short command, awaited, is fine in every tier; a program that runs during a test is not. */
const STARTS_PROGRAMS = [
  imports(String.raw`\{(?! execFileSync \})`, 'node:child_process'),
  imports('', 'playwright-core'),
  imports(
    String.raw`\{[^}]*\b(findBrowser|killableWorker|mailFaults|mailSystem|startSingleSignOn|startSystem)\b`,
    '@postroom/testkit',
  ),
];

/** What the tests of a tier, and the helpers next to them, may not import. */
const FORBIDDEN = {
  unit: [
    ...STARTS_PROGRAMS,
    imports('', '@postroom/testkit'),
    imports('', 'pg'),
    imports(String.raw`\{[^}]*\b(db|pool)\b`, String.raw`(@postroom/platform|[./]*/src/db\.ts)`),
  ],
  integration: STARTS_PROGRAMS,
  system: [],
};

type Tier = keyof typeof FORBIDDEN;

const files = globSync(TESTS, { cwd: ROOT, exclude: ['**/node_modules/**'] }).sort();

function tierOf(file: string): Tier {
  return (/\.(integration|system)\.test\./.exec(file)?.[1] as Tier | undefined) ?? 'unit';
}

/** A test and what it imports by path, as far as that is in test folders too. */
function withHelpers(file: string, found = new Map<string, string>()): Map<string, string> {
  const path = join(ROOT, file);
  if (found.has(file) || !existsSync(path)) return found;
  const text = readFileSync(path, 'utf8');
  found.set(file, text);
  for (const [, specifier = ''] of text.matchAll(/\bfrom '(\.[^']+)'/g)) {
    const helper = join(dirname(file), specifier);
    if (/(^|\/)test\//.test(helper)) withHelpers(helper, found);
  }
  return found;
}

function problemsOf(file: string): string[] {
  return [...withHelpers(file)].flatMap(([helper, text]) =>
    FORBIDDEN[tierOf(file)].flatMap((pattern) => {
      const found = pattern.exec(text)?.[0];
      return found === undefined ? [] : [`${helper}: ${found}`];
    }),
  );
}

test('every test is where its tier looks for it', () => {
  const strays = files.filter(
    (file) => !/^((apps|modules|packages|sdk)\/[^/]+\/test|workflows\/test|scripts)\//.test(file),
  );
  expect(strays).toEqual([]);
  expect(new Set(files.map(tierOf))).toEqual(new Set(['unit', 'integration', 'system']));
});

test('unit tests need no service, and only system tests start programs', () => {
  expect(files.flatMap(problemsOf)).toEqual([]);
});

test('the services of a unit test, and the programs of an integration test, are noticed', () => {
  const noticed = (tier: Tier, text: string) => FORBIDDEN[tier].some((pattern) => pattern.test(text));
  expect(noticed('unit', `import { testApi } from '@postroom/testkit';`)).toBe(true);
  expect(noticed('unit', `import { eventually } from '@postroom/testkit/local';`)).toBe(false);
  expect(noticed('unit', `import { newId, pool } from '@postroom/platform';`)).toBe(true);
  expect(noticed('unit', `import { pool } from '../src/db.ts';`)).toBe(true);
  for (const line of [
    `import { type ChildProcess, spawn } from 'node:child_process';`,
    `import { eventually, startSystem, type System } from '@postroom/testkit';`,
    `import { chromium } from 'playwright-core';`,
  ])
    expect([noticed('unit', line), noticed('integration', line), noticed('system', line)]).toEqual([true, true, false]);
  expect(noticed('unit', `import { execFileSync } from 'node:child_process';`)).toBe(false);
});

test('a unit test has neither a database nor Temporal', () => {
  expect(process.env.DATABASE_URL).toContain('.invalid');
  expect(process.env.TEMPORAL_ADDRESS).toContain('.invalid');
});
