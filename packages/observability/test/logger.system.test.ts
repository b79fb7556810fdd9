import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** What one line of the log says about an error. */
function logged(error: string): unknown {
  const code = `
    const { logger } = await import(${JSON.stringify(join(import.meta.dirname, '../src/logger.ts'))});
    logger.error({ err: ${error} }, 'it failed');`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  return (JSON.parse(stdout) as { err: unknown }).err;
}

test('an error that is text is logged as its message', () => {
  expect(logged(`'Status { code: Unavailable }'`)).toEqual({ message: 'Status { code: Unavailable }' });
});

test("PostgreSQL's details of an error are not logged, because they contain rows", () => {
  const error = `Object.assign(new Error('duplicate key'), { code: '23505', detail: 'Key (email)=(ada@example.com)' })`;
  expect(logged(error)).toEqual({
    type: 'Error',
    message: 'duplicate key',
    code: '23505',
    stack: expect.stringContaining('duplicate key'),
  });
});
