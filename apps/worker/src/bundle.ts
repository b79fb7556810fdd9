// Bundles the workflows into the script that Temporal's sandbox runs. webpack takes seconds and 200 MB that a
// process never returns, so a child process (this file) does it, once per state of the sources; `npm run build` does it ahead.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { partFiles } from '@postroom/registry';

const ROOT = join(import.meta.dirname, '../../..');
/** The files whose exports are the workflows. The workflows of a module import nothing but their neighbours. */
const ENTRIES = [fileURLToPath(import.meta.resolve('@postroom/workflows')), ...partFiles('workflows')];
/** What every workflow runs with. */
const TRACE_CONTEXT = fileURLToPath(import.meta.resolve('@postroom/workflows/trace-context'));
/** What the bundle depends on besides the sources, which import nothing else. */
const PACKAGES = ['worker', 'workflow', 'common'].map((name) => `@temporalio/${name}/package.json`);

/** Path of the current bundle; built if missing. */
export async function workflowBundle(): Promise<{ codePath: string }> {
  const name = `workflows-${fingerprint()}.js`;
  const folders = [join(ROOT, 'node_modules/.cache/postroom'), join(tmpdir(), 'postroom-workflows')];
  const existing = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (existing !== undefined) return { codePath: existing };
  const codePath = join(folders.find(isWritable) ?? tmpdir(), name);
  await bundleInChildProcess(codePath);
  return { codePath };
}

function fingerprint(): string {
  const hash = createHash('sha256');
  const { resolve } = createRequire(import.meta.url);
  for (const path of [import.meta.filename, ...ENTRIES.flatMap(sourcesOf), ...PACKAGES.map((path) => resolve(path))])
    hash.update(`${relative(ROOT, path)}\n`).update(readFileSync(path));
  return hash.digest('hex').slice(0, 20);
}

/** The TypeScript files of an entry's folder and below. */
function sourcesOf(entry: string): string[] {
  const folder = dirname(entry);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  return files.toSorted().map((name) => join(folder, name));
}

function isWritable(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function bundleInChildProcess(codePath: string): Promise<void> {
  const child = spawn(process.execPath, [import.meta.filename, codePath], { stdio: ['ignore', 'inherit', 'inherit'] });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`The workflows could not be bundled (status ${code}).`)),
    );
  });
}

/** Written to a temporary file and renamed: several processes may build it at once, and none may read half of it. */
async function writeBundle(codePath: string): Promise<void> {
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const unfinished = join(dirname(codePath), `.${process.pid}.js`);
  const index = join(dirname(codePath), `.${process.pid}.mjs`);
  writeFileSync(index, ENTRIES.map((entry) => `export * from ${JSON.stringify(entry)};\n`).join(''));
  try {
    const { code } = await bundleWorkflowCode({
      workflowsPath: index,
      workflowInterceptorModules: [TRACE_CONTEXT],
      logger: new DefaultLogger('WARN'),
      // The folder of the index may be outside of the repository.
      webpackConfigHook: (config) => ({
        ...config,
        // Lines are enough for stack traces. Each thread of workflows decodes all positions: those of columns take 5 MB.
        devtool: 'inline-cheap-module-source-map',
        resolve: { ...config.resolve, modules: [...(config.resolve?.modules ?? []), join(ROOT, 'node_modules')] },
      }),
    });
    writeFileSync(unfinished, compact(code));
  } finally {
    rmSync(index);
  }
  renameSync(unfinished, codePath);
}

const SOURCE_MAP = /\n\/\/# sourceMappingURL=data:application\/json;[^,]*base64,([\w+/=]+)\s*$/;

/**
 * The main thread and each thread of workflows keep the bundle and its source map. A character beyond ASCII makes each of its
 * characters two bytes, and the map holds all sources for a debugger, where stack traces need only positions.
 */
export function compact(code: string): string {
  const [comment, encoded = ''] = SOURCE_MAP.exec(code) ?? [];
  if (comment === undefined) throw new Error('The bundle of the workflows has no source map.');
  const { sourcesContent: _, ...map } = JSON.parse(Buffer.from(encoded, 'base64').toString()) as Record<
    string,
    unknown
  >;
  const script = code.slice(0, -comment.length).replaceAll(/[^\0-\x7f]/g, escapeUnit);
  const smaller = Buffer.from(JSON.stringify(map)).toString('base64');
  return `${script}\n//# sourceMappingURL=data:application/json;base64,${smaller}`;
}

const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

if (import.meta.main) {
  const [, , codePath] = process.argv;
  if (codePath === undefined) await workflowBundle();
  else await writeBundle(codePath);
}
