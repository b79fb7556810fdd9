// `npm run build`: dist/esm for import and dist/cjs for require, each with its types. It needs nothing but this folder, and
// runs on every Node that the package supports.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** The compiler that is installed, or npm's copy of it where nothing is. */
function compiler() {
  try {
    const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
    const { bin } = JSON.parse(readFileSync(manifest, 'utf8'));
    return [process.execPath, join(dirname(manifest), bin.tsc)];
  } catch {
    return ['npm', 'exec', '--yes', `--package=typescript@${devDependencies.typescript}`, '--', 'tsc'];
  }
}

const [command, ...first] = compiler();
rmSync(join(root, 'dist'), { recursive: true, force: true });
for (const [kind, type] of [
  ['esm', 'module'],
  ['cjs', 'commonjs'],
]) {
  const args = [...first, '-p', `tsconfig.${kind}.json`];
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' });
  if (status !== 0) process.exit(status ?? 1);
  // What a file is, Node tells by the nearest package.json.
  mkdirSync(join(root, 'dist', kind), { recursive: true });
  writeFileSync(join(root, 'dist', kind, 'package.json'), `${JSON.stringify({ type })}\n`);
}
