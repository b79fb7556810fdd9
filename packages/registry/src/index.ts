import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MODULES } from './modules.ts';
import { type Parts, REQUIRED } from './parts.ts';

export { MODULES } from './modules.ts';
export { type Parts, REQUIRED } from './parts.ts';

const FOLDER = join(import.meta.dirname, '../../../modules');

/**
 * Loads a part of each module that has it, in the order of `MODULES`.
 * @throws Error naming the module and the export that its part lacks.
 */
export async function loadParts<Part extends keyof Parts>(part: Part): Promise<Parts[Part][]> {
  const names = MODULES.filter((name) => exportsOf(name)[`./${part}`] !== undefined);
  return Promise.all(
    names.map(async (name) => {
      const contents: object = await import(/* @vite-ignore */ `@postroom/${name}/${part}`);
      const missing = REQUIRED[part].find((required) => !(required in contents));
      if (missing !== undefined) throw new Error(`@postroom/${name}/${part} must export "${missing}".`);
      return contents as Parts[Part];
    }),
  );
}

/** The paths of a part's files, of each module that has it. */
export function partFiles(part: keyof Parts): string[] {
  return MODULES.flatMap((name) => {
    const file = exportsOf(name)[`./${part}`];
    return file === undefined ? [] : [join(FOLDER, name, file)];
  });
}

function exportsOf(name: string): Record<string, string> {
  const { exports }: { exports?: Record<string, string> } = JSON.parse(
    readFileSync(join(FOLDER, name, 'package.json'), 'utf8'),
  );
  return exports ?? {};
}
