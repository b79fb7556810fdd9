import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

test.each(['gateway', 'worker', 'submission', 'bounces'])(
  'a %s with an incomplete environment exits before it connects to anything, and lists every problem',
  async (app) => {
    const env = { PATH: process.env.PATH, NODE_ENV: 'production', GATEWAY_PORT: 'x' };
    const failure: unknown = await run(process.execPath, [join(ROOT, 'apps', app, 'src/main.ts')], { env }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        new RegExp(`^Settings of the ${app}:\\n  GATEWAY_PORT: .*\\n  DATABASE_URL: is required: `),
      ),
    });
  },
);
