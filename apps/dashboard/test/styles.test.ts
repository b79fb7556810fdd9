import { existsSync, globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const SRC = join(import.meta.dirname, '../src');
const { resolve } = createRequire(import.meta.url);
const MANTINE = dirname(resolve('@mantine/core/styles.css'));

const sheetsIn = (text: string) =>
  new Set([...text.matchAll(/'@mantine\/core\/styles\/(\w+)\.css'/g)].map(([, name]) => name));

const sheetsOfFile = (path: string) => sheetsIn(readFileSync(join(SRC, path), 'utf8'));
const first = sheetsOfFile('app/mantine-styles.ts');
const shared = new Set([...first, ...sheetsOfFile('app/form-styles.ts')]);

/** The components of the library that a file imports. */
const componentsIn = (text: string) =>
  [...text.matchAll(/import \{([^}]*)\} from ['"]@mantine\/core['"]/g)].flatMap(([, names = '']) =>
    names.split(',').map((name) => name.trim()),
  );

const sheetsOfComponent = (name: string) => sheetsOf(join(MANTINE, `esm/components/${name}/${name}.mjs`));

/** The sheets of a module of the library and of what it imports. */
function sheetsOf(path: string, seen = new Set<string>()): string[] {
  if (seen.has(path) || !existsSync(path)) return [];
  seen.add(path);
  const name = basename(path, '.module.mjs');
  if (path.endsWith('.module.mjs')) return existsSync(join(MANTINE, `styles/${name}.css`)) ? [name] : [];
  const imported = [...readFileSync(path, 'utf8').matchAll(/from "(\.[^"]+)"/g)];
  return imported.flatMap(([, to = '']) => sheetsOf(join(dirname(path), to), seen));
}

/** The sheets that the components of a file lack. */
function missingSheets(path: string, given: ReadonlySet<string | undefined>): string[] {
  const text = readFileSync(join(SRC, path), 'utf8');
  const own = sheetsIn(text);
  const needed = componentsIn(text).flatMap(sheetsOfComponent);
  return [...new Set(needed)].filter((name) => !given.has(name) && !own.has(name)).map((name) => `${path}: ${name}`);
}

/** The files that a file loads with itself. */
function filesOf(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  const text = readFileSync(join(SRC, path), 'utf8');
  for (const [, to = ''] of text.matchAll(/^(?:import|export) (?!type)[^;]*?from '(\.[^']+)'/gm))
    filesOf(join(dirname(path), to), seen);
  return seen;
}

test('every component of Home and of a campaign report has its styles without those of forms', () => {
  const files = filesOf('pages/campaigns/campaign.tsx', filesOf('pages/home/home.tsx', filesOf('main.tsx')));
  expect([...files]).toContain('pages/campaigns/running.tsx');
  expect([...files]).toContain('components/chart.tsx');
  expect([...files]).toContain('components/table.tsx');
  expect([...files].flatMap((path) => missingSheets(path, first))).toEqual([]);
});

test('every component of the library has its styles, from the shared ones or the file that uses it', () => {
  expect(sheetsOf(join(MANTINE, 'esm/components/Radio/Radio.mjs'))).toContain('InlineInput');
  expect(globSync('**/*.tsx', { cwd: SRC }).flatMap((path) => missingSheets(path, shared))).toEqual([]);
});
