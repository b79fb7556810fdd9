import { execFileSync } from 'node:child_process';
import { appendFileSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyRepository } from './repository-copy.ts';

// A task runs again exactly when turbo's hash of it changes. Turbo computes the hash from the task's inputs, from the tasks it
// depends on and from files that count for every task. Planning takes turbo seconds, so most tests read these from one plan; for
// `HASHED`, one of each cause, they change the file in a copy and compare hashes.

const ROOT = join(import.meta.dirname, '..');
const TASKS = ['generate', 'types', 'lint', 'test'];

interface Manifest {
  name: string;
  exports?: Record<string, string>;
  scripts?: Record<string, string>;
}

interface Task {
  hash: string;
  inputs: string[];
  dependencies: string[];
}

/** Turbo's `globalDependencies`. */
const GLOBAL = ['package.json', 'package-lock.json', 'tsconfig.base.json'];

/** An input of one package, an input of tasks that others depend on, and a global dependency. */
const HASHED = ['modules/groups/src/groups.ts', 'modules/groups/schema.prisma', 'tsconfig.base.json'];

let copy: string;
let before: Map<string, Task>;

beforeAll(() => {
  copy = copyRepository();
  for (const args of [
    ['init', '--quiet'],
    ['add', '--all'],
  ])
    execFileSync('git', args, { cwd: copy });
  before = plan();
}, 120_000);
afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** The tasks of these packages and of what they depend on, or of all packages, by their id, such as `groups#types`. */
function plan(packages: readonly string[] = []): Map<string, Task> {
  const stdout = execFileSync(
    process.execPath,
    [
      join(ROOT, 'node_modules/turbo/bin/turbo'),
      'run',
      ...TASKS,
      '--dry=json',
      `--cwd=${copy}`,
      ...packages.map((name) => `--filter=@postroom/${name}`),
    ],
    {
      encoding: 'utf8',
      env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1' },
      maxBuffer: 100_000_000,
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  interface Planned {
    taskId: string;
    hash: string;
    directory: string;
    inputs: Record<string, string>;
    dependencies: string[];
  }
  const { tasks }: { tasks: Planned[] } = JSON.parse(stdout);
  return new Map(
    tasks.map(({ taskId, hash, directory, inputs, dependencies }) => [
      taskId.replace('@postroom/', ''),
      {
        hash,
        inputs: Object.keys(inputs).map((path) => join(directory, path).replaceAll('\\', '/')),
        dependencies: dependencies.map((id) => id.replace('@postroom/', '')),
      },
    ]),
  );
}

/** The tasks that have a file as an input, directly or through a task that they depend on. */
function affectedBy(file: string): string[] {
  if (GLOBAL.includes(file)) return [...before.keys()];
  const isAffected = (id: string): boolean => {
    const { inputs = [], dependencies = [] } = before.get(id) ?? {};
    return inputs.includes(file) || dependencies.some(isAffected);
  };
  return [...before.keys()].filter(isAffected);
}

/** The packages whose tasks are planned again: turbo takes a tenth of the time for them. */
const REHASHED = ['platform', 'groups', 'contacts', 'gateway'];

/** The tasks of `REHASHED`, of which each changed file affects some, whose hash changes with it. */
function rehashedBy(file: string): string[] {
  const path = join(copy, file);
  const text = readFileSync(path);
  appendFileSync(path, '\n');
  try {
    const after = plan(REHASHED);
    return [...after].flatMap(([id, { hash }]) => (before.get(id)?.hash === hash ? [] : [id]));
  } finally {
    writeFileSync(path, text);
  }
}

const CHANGES: { file: string; affects: string[]; spares: string[] }[] = [
  {
    file: 'modules/groups/test/groups.integration.test.ts',
    affects: ['groups#types', 'groups#lint', 'groups#test'],
    spares: ['contacts#test', 'campaigns#types', 'platform#generate', 'gateway#generate'],
  },
  {
    file: 'modules/groups/src/groups.ts',
    affects: ['groups#types', 'campaigns#types', 'groups#lint', 'groups#test', 'worker#test', 'gateway#generate'],
    spares: ['platform#generate'],
  },
  {
    file: 'modules/groups/package.json',
    affects: ['groups#lint', 'groups#types', 'groups#test', 'gateway#generate'],
    spares: ['platform#generate'],
  },
  {
    file: 'modules/groups/schema.prisma',
    affects: ['platform#generate', 'gateway#generate', 'contacts#types', 'groups#test'],
    spares: [],
  },
  {
    file: 'modules/platform/migrations/20261121000000_init/migration.sql',
    affects: ['groups#test', 'worker#test', 'scripts#test'],
    spares: ['groups#types', 'groups#lint', 'platform#generate'],
  },
  {
    file: 'workflows/src/deliver-webhook.ts',
    affects: ['workflows#types', 'workflows#lint', 'workflows#test', 'webhooks#test', 'worker#test'],
    spares: ['platform#generate', 'gateway#generate'],
  },
  {
    file: 'workflows/histories/deleteOld.done.json',
    affects: ['workflows#test'],
    spares: ['groups#test', 'groups#types'],
  },
  {
    file: 'apps/gateway/src/gateway.ts',
    affects: ['gateway#types', 'gateway#generate', 'groups#test', 'sdk#generate', 'scripts#types', 'bench#types'],
    spares: ['groups#types', 'platform#generate'],
  },
  {
    file: 'apps/dashboard/src/main.tsx',
    affects: ['dashboard#types', 'dashboard#generate', 'dashboard#test'],
    spares: ['groups#types', 'gateway#types'],
  },
  {
    file: 'packages/testkit/src/api.ts',
    affects: ['groups#types', 'groups#test', 'testkit#lint'],
    spares: ['platform#generate'],
  },
  {
    file: 'scripts/chaos/main.ts',
    affects: ['scripts#types', 'scripts#lint', 'scripts#test'],
    spares: ['groups#types', 'groups#test', 'platform#generate'],
  },
  { file: 'scripts/test.mjs', affects: ['groups#test', 'scripts#lint'], spares: ['groups#types', 'groups#lint'] },
  {
    file: 'scripts/setup.mjs',
    affects: ['platform#generate', 'groups#types', 'groups#test'],
    spares: [],
  },
  {
    file: 'bench/webhooks.ts',
    affects: ['bench#types', 'bench#lint', 'scripts#types'],
    spares: ['groups#types', 'groups#test', 'gateway#test'],
  },
  { file: 'oxlint.config.ts', affects: ['groups#lint', 'bench#lint'], spares: ['groups#types', 'groups#test'] },
  { file: 'vitest.config.ts', affects: ['groups#test', 'sdk#test'], spares: ['groups#types', 'groups#lint'] },
  { file: 'docs/architecture.md', affects: ['gateway#test', 'scripts#test'], spares: ['groups#test', 'groups#lint'] },
  { file: 'tsconfig.base.json', affects: ['groups#types', 'bench#types', 'sdk#test'], spares: [] },
];

test.each(CHANGES)('a change to $file runs again what depends on it', ({ file, affects, spares }) => {
  const affected = affectedBy(file);
  expect(affected).toEqual(expect.arrayContaining(affects));
  expect(spares.filter((id) => !before.has(id))).toEqual([]);
  expect(affected.filter((id) => spares.includes(id))).toEqual([]);
});

test.each(HASHED)(
  'the tasks that a change to %s affects are those whose hash changes',
  (file) => {
    const rehashed = rehashedBy(file);
    expect(rehashed.length).toBeGreaterThan(5);
    const isPlanned = (id: string) => REHASHED.some((name) => id.startsWith(`${name}#`));
    expect(rehashed.filter(isPlanned).sort()).toEqual(affectedBy(file).filter(isPlanned).sort());
  },
  60_000,
);

const manifests = globSync(['{apps,modules,packages,sdk}/*/package.json', '{bench,scripts,workflows}/package.json'], {
  cwd: ROOT,
}).sort();

test.each(manifests)('%s has a script for each of its tasks', (path) => {
  const { scripts = {} }: Manifest = JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
  const folder = path.slice(0, -'/package.json'.length);
  const hasTests = globSync(`${folder}/**/*.test.{ts,mjs}`, { cwd: ROOT }).length > 0;
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['lint', 'types', ...(hasTests ? ['test'] : [])]));
});

/** The file that an import leads to, for those between packages of this repository. */
function target(from: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return join(from, '..', specifier).replaceAll('\\', '/');
  const [, name, part] = /^@postroom\/([^/]+)(.*)$/.exec(specifier) ?? [];
  const path = manifests.find(
    (each) => JSON.parse(readFileSync(join(ROOT, each), 'utf8')).name === `@postroom/${name}`,
  );
  if (path === undefined) return undefined;
  const { exports = {} }: Manifest = JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
  const file = exports[`.${part}`];
  return typeof file === 'string' ? join(path, '..', file).replaceAll('\\', '/') : undefined;
}

test('types and tests of a package take in every file that it imports', () => {
  const missing: string[] = [];
  for (const path of manifests) {
    const { name, scripts = {} }: Manifest = JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
    const folder = path.slice(0, -'/package.json'.length);
    const sources = globSync(`${folder}/**/*.{ts,tsx}`, { cwd: ROOT }).filter((file) => !/generated|dist\//.test(file));
    const imported = new Set(
      sources.flatMap((file) =>
        [...readFileSync(join(ROOT, file), 'utf8').matchAll(/^(?:import|export)\b[^'"]*?'([^']+)'/gm)].map(
          ([, specifier = '']) => target(file, specifier),
        ),
      ),
    );
    for (const task of ['types', 'lint', 'test'].filter((each) => each in scripts)) {
      const inputs = new Set(before.get(`${name.replace('@postroom/', '')}#${task}`)?.inputs);
      for (const file of imported)
        if (file !== undefined && !file.includes('/generated/') && /\.tsx?$/.test(file) && !inputs.has(file))
          missing.push(`${name}#${task}: ${file}`);
    }
  }
  expect(missing).toEqual([]);
}, 120_000);
