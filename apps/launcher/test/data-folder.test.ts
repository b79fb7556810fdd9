import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartError } from '@postroom/embedded';
import { expect, onTestFinished, test } from 'vitest';
import { openDataFolder } from '../src/data-folder.ts';

test.each(['file', 'file/below'])(
  'a data folder that cannot be used is named, without a stack trace: %s',
  async (name) => {
    const folder = mkdtempSync(join(tmpdir(), 'postroom-data-folder-'));
    const umask = process.umask();
    onTestFinished(() => {
      process.umask(umask);
      rmSync(folder, { recursive: true });
    });
    writeFileSync(join(folder, 'file'), '');
    const dataDir = join(folder, name);
    const problem = await openDataFolder(dataDir, false, () => {}).catch((error: unknown) => error);
    expect(problem).toBeInstanceOf(StartError);
    expect((problem as StartError).message).toMatch(/^Can't use .+ as the data folder: (ENOTDIR|EEXIST)/);
  },
);
