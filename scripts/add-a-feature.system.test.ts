import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { copyRepository, repositoryFiles } from './repository-copy.ts';

// Follows docs/tutorials/add-a-feature.md in a copy of the repository: the page works as it is printed, and a feature
// is a folder and two lines.

const ROOT = join(import.meta.dirname, '..');
const PAGE = 'docs/tutorials/add-a-feature.md';

/** A step of the page: a file to write, a line to add, text to append, or commands to run. */
interface Step {
  /** The path above the block; `undefined` for commands. */
  file: string | undefined;
  language: string;
  text: string;
}

function stepsOf(page: string): Step[] {
  const blocks = page.matchAll(/(?:^`([^`\n]+)`\n\n)?^```(\w+)\n([\s\S]*?)^```$/gm);
  return [...blocks].map(([, file, language = '', text = '']) => ({ file, language, text }));
}

/** A copy of the working tree whose packages resolve to each other, and the others to ours. */
function copyWithPackages(): string {
  const copy = copyRepository();
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  const packages = join(ROOT, 'node_modules');
  mkdirSync(join(copy, 'node_modules'));
  for (const name of readdirSync(packages).filter((name) => name !== '.cache' && name !== '@postroom'))
    symlinkSync(join(packages, name), join(copy, 'node_modules', name));
  const ours = { recursive: true, verbatimSymlinks: true };
  cpSync(join(packages, '@postroom'), join(copy, 'node_modules/@postroom'), ours);
  return copy;
}

function apply({ file, language, text }: Step, copy: string): void {
  const pattern = file ?? '';
  const [found = pattern] = pattern.includes('*') ? globSync(pattern, { cwd: copy }) : [];
  const path = join(copy, found);
  if (language === 'diff') {
    const before = text.replaceAll(/^\+.*\n/gm, '').replaceAll(/^ /gm, '');
    const after = text.replaceAll(/^[ +]/gm, '');
    const current = readFileSync(path, 'utf8');
    if (current.split(before).length !== 2) throw new Error(`${file} does not have the place that the page shows.`);
    writeFileSync(path, current.replace(before, after));
  } else if (language === 'sql') {
    appendFileSync(path, `\n${text}`);
  } else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/** What the npm scripts of the page run, without setting up a clone or testing the whole repository. */
const COMMANDS: Record<string, string[][]> = {
  'npm run db:migration -- add_notes --module notes': [['scripts/db-migration.ts', 'add_notes', '--module', 'notes']],
  'npm run generate': [['scripts/generate.mjs']],
  'npm run types': [['node_modules/typescript/bin/tsc', '-p', 'modules/notes']],
  'npm run lint': [['node_modules/oxlint/bin/oxlint', 'modules/notes', 'packages/registry']],
  'npm test -- modules/notes': [
    // Nothing in the copy is cached yet, so the first request takes long.
    ['node_modules/vitest/vitest.mjs', 'run', 'modules/notes', 'packages/registry', '--testTimeout=180000'],
  ],
  'npm test -- modules/privacy apps/gateway/test/openapi/document': [
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      'modules/privacy',
      'apps/gateway/test/openapi/document',
      'event-types',
      '--testTimeout=180000',
    ],
  ],
};

test('a feature is added as the tutorial says, with a folder and two lines', { timeout: 900_000 }, () => {
  const copy = copyWithPackages();
  const run = (args: string[]) => {
    const env: NodeJS.ProcessEnv = { ...process.env, NODE_ENV: 'test' };
    // The tests in the copy start their own services, because their database has another table, and keep their own compiled code.
    for (const name of [
      'TEST_SERVICES',
      'DATABASE_URL',
      'TEMPORAL_ADDRESS',
      'TEMPORAL_TASK_QUEUE',
      'NODE_COMPILE_CACHE',
      'VITEST',
      'VITEST_POOL_ID',
      'VITEST_WORKER_ID',
    ])
      delete env[name];
    try {
      execFileSync(process.execPath, args, { cwd: copy, env, encoding: 'utf8', stdio: 'pipe' });
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`${args.join(' ')} failed:\n${stdout}\n${stderr}`, { cause: error });
    }
  };
  const steps = stepsOf(readFileSync(join(ROOT, PAGE), 'utf8'));
  expect(steps.length).toBeGreaterThan(10);
  for (const step of steps) {
    if (step.language !== 'sh') {
      apply(step, copy);
      continue;
    }
    for (const line of step.text.trim().split('\n')) {
      // npm would ask the registry; all that its install adds is this link.
      if (line === 'npm install') symlinkSync('../../modules/notes', join(copy, 'node_modules/@postroom/notes'));
      else {
        const commands = COMMANDS[line];
        if (commands === undefined) throw new Error(`${PAGE} has a command that this test does not know: ${line}`);
        commands.forEach(run);
      }
    }
  }
  const changed = repositoryFiles().filter(
    (file) => readFileSync(join(ROOT, file), 'utf8') !== readFileSync(join(copy, file), 'utf8'),
  );
  expect(changed).toEqual([
    'modules/platform/migrations/schema.snapshot',
    'modules/privacy/test/privacy.integration.test.ts',
    'packages/registry/src/modules.ts',
    'schema.graphql',
    'sdk/typescript/src/types.ts',
  ]);
  expect(readFileSync(join(copy, 'schema.graphql'), 'utf8')).toContain('addNote(');
  expect(readFileSync(join(copy, 'sdk/typescript/src/types.ts'), 'utf8')).toContain('/v1/contacts/{id}/notes');
});
