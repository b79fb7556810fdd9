import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MODULES, partFiles, REQUIRED } from '../src/index.ts';

const ROOT = join(import.meta.dirname, '../../..');

interface Manifest {
  name: string;
  exports?: Record<string, string>;
  dependencies?: Record<string, string>;
}

const read = (path: string): Manifest => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));

/** Exports that are not parts, for other modules and tests. */
const OTHER = ['.', './testing'];

test('every folder of modules/ is registered, except the kernel', () => {
  const folders = globSync('modules/*/package.json', { cwd: ROOT }).map((path) => path.split(/[\\/]/)[1]);
  expect([...MODULES, 'platform'].sort()).toEqual(folders.sort());
});

test.each(MODULES)('what %s exports is a part of the registry, or imported by name', (module) => {
  const sources = globSync(['{apps,modules,packages}/*/{src,test}/**/*.{ts,tsx}', 'scripts/**/*.ts'], { cwd: ROOT })
    .filter((path) => !path.includes('generated'))
    .map((path) => readFileSync(join(ROOT, path), 'utf8'));
  for (const [name, file] of Object.entries(read(`modules/${module}/package.json`).exports ?? {})) {
    expect(existsSync(join(ROOT, 'modules', module, file))).toBe(true);
    if (OTHER.includes(name) || name.slice(2) in REQUIRED) continue;
    const specifier = `'@postroom/${module}${name.slice(1)}'`;
    expect([specifier, sources.some((text) => text.includes(specifier))]).toEqual([specifier, true]);
  }
});

test('the files of a part are those that the modules export, in the order of the registry', () => {
  expect(partFiles('dispatcher').map((path) => path.slice(ROOT.length + 1))).toEqual([
    'modules/emails/src/dispatcher.ts',
    'modules/privacy/src/dispatcher.ts',
    'modules/campaigns/src/dispatcher.ts',
    'modules/journeys/src/dispatcher.ts',
    'modules/webhooks/src/dispatcher.ts',
    'modules/insights/src/dispatcher.ts',
  ]);
});

test('dependencies between packages have no cycles', () => {
  const manifests = globSync(['{apps,modules,packages}/*/package.json', 'workflows/package.json'], { cwd: ROOT }).map(
    read,
  );
  const byName = new Map(manifests.map((manifest) => [manifest.name, manifest]));
  const checked = new Set<string>();
  const visit = (name: string, path: string[]): void => {
    expect(path).not.toContain(name);
    if (checked.has(name)) return;
    for (const next of Object.keys(byName.get(name)?.dependencies ?? {}))
      if (byName.has(next)) visit(next, [...path, name]);
    checked.add(name);
  };
  for (const name of byName.keys()) visit(name, []);
});
