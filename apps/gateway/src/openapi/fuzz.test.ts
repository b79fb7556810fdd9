import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { everything } from '../rest/fixtures.ts';
import { schemathesis } from './schemathesis.ts';

const program = await schemathesis();

/** How long it looks. A fixed seed makes a run repeatable; give another to look elsewhere. */
const SECONDS = Number(process.env.FUZZ_SECONDS ?? 75);
const SEED = process.env.FUZZ_SEED ?? '1';

/**
 * Every check but one: what the schema allows may still be refused for a reason that no schema can say, such as a name that
 * is taken or a group without a member that exists.
 */
const FLAGS = [
  ['--phases', 'examples,coverage,fuzzing,stateful'],
  ['--exclude-checks', 'positive_data_acceptance,object_level_authorization'],
  ['--max-examples', '15'],
  ['--max-time', String(SECONDS)],
  ['--seed', SEED],
  ['--rate-limit', '95/s'],
  ['--request-timeout', '20'],
  ['--continue-on-failure'],
  ['--no-color'],
].flat();

test.skipIf(program === undefined)(
  'schemathesis, its stateful mode included, finds no 5xx and no response outside the document (needs Python)',
  async () => {
    const { api } = await everything();
    const { output, status } = await fuzz(`${api.url}/v1/openapi.json`, [
      `Authorization: Bearer ${api.key}`,
      // Else it makes projects up, and gets no further than 403.
      `X-Project-Id: ${api.projectId}`,
    ]);
    expect(status, output).toBe(0);
    expect(output).toMatch(/Stateful/);
    expect((await (await testApi()).get('/v1/contacts')).status).toBe(200);
  },
  (SECONDS + 120) * 1000,
);

async function fuzz(document: string, headers: string[]) {
  const args = ['run', document, ...headers.flatMap((header) => ['--header', header]), ...FLAGS];
  // It keeps what it finds in the folder it is started in.
  const cwd = mkdtempSync(join(tmpdir(), 'postroom-fuzz-'));
  const child = spawn(program as string, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  const status = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  rmSync(cwd, { recursive: true, force: true });
  return { status, output: Buffer.concat(chunks).toString() };
}
