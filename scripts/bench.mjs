// Runs a benchmark of bench/ by name, with the Node that npm puts on the PATH: `npm run bench -- import 100000`.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../bench');
const [name, ...args] = process.argv.slice(2);
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.ts') && readFileSync(join(folder, file), 'utf8').includes('npm run bench -- '))
  .map((file) => file.slice(0, -'.ts'.length));

if (name === undefined || !names.includes(name)) {
  console.log(`Usage: npm run bench -- <name> [options]\n\nThe names are: ${names.join(', ')}.`);
  process.exitCode = name === undefined || name === '--help' ? 0 : 1;
} else {
  process.exitCode =
    spawnSync(process.execPath, [join(folder, `${name}.ts`), ...args], { stdio: 'inherit' }).status ?? 1;
}
