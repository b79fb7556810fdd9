// `npm run build`: builds dist/esm for import and dist/cjs for require, each with its types. It depends only on this
// folder, and runs on every Node version that the package supports.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** The installed compiler, or else one downloaded by npm. */
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
  // Node determines a file's module type by the nearest package.json.
  mkdirSync(join(root, 'dist', kind), { recursive: true });
  writeFileSync(join(root, 'dist', kind, 'package.json'), `${JSON.stringify({ type })}\n`);
}
