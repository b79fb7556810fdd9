import { globSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';

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

/** What a production install leaves out, so that all their dependencies are devDependencies: see the how-to on operations. */
const BUILD_ONLY = ['apps/dashboard', 'packages/testkit'];

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
    Object.keys({ ...dependencies, ...peerDependencies, ...devDependencies }).filter((each) => !used.has(each)),
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
