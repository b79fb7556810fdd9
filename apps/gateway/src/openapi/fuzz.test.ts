import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Api, testApi } from '@postroom/testkit';
import { afterAll, expect, test } from 'vitest';
import { everything } from '../rest/fixtures.ts';
import type { OpenApiDocument } from './document.ts';
import { schemathesis } from './schemathesis.ts';

const program = await schemathesis();
const folder = mkdtempSync(join(tmpdir(), 'postroom-fuzz-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Every text is a CSV file, `null` as well, so that no body of that type can be refused for what it is. */
writeFileSync(
  join(folder, 'schemathesis.toml'),
  `[[operations]]
include-name = "POST /v1/imports"
checks.negative_data_rejection.enabled = false
`,
);

/** How long each looks. A fixed seed makes a run repeatable; give another to look elsewhere. */
const SECONDS = Number(process.env.FUZZ_SECONDS ?? 60);
const SEED = process.env.FUZZ_SEED ?? '1';

/**
 * Every check but one: what the schema allows may still be refused for a reason that no schema can say, such as a name that
 * is taken or a group without a member that exists.
 */
const FLAGS = [
  ['--exclude-checks', 'positive_data_acceptance,object_level_authorization'],
  ['--max-time', String(SECONDS)],
  ['--seed', SEED],
  ['--rate-limit', '95/s'],
  ['--request-timeout', '20'],
  ['--continue-on-failure'],
  ['--no-color'],
].flat();

test.skipIf(program === undefined)(
  'schemathesis finds no 5xx and no response outside the document (needs Python)',
  async () => {
    const { api } = await everything();
    const project = ['--header', `X-Project-Id: ${api.projectId}`];
    const phases = ['--phases', 'examples,coverage,fuzzing', '--max-examples', '15'];
    const { output, status } = await fuzz(api, `${api.url}/v1/openapi.json`, [...project, ...phases]);
    expect(status, output).toBe(0);
    expect((await (await testApi()).get('/v1/contacts')).status).toBe(200);
  },
  (SECONDS + 120) * 1000,
);

test.skipIf(program === undefined)(
  'schemathesis finds none either where one request follows from another (needs Python)',
  async () => {
    const { api } = await everything();
    const document = await withoutHeaders(api);
    const { output, status } = await fuzz(api, document, [
      '--url',
      api.url,
      '--phases',
      'stateful',
      '--max-examples',
      '100',
    ]);
    expect(status, output).toBe(0);
    expect(output).toMatch(/Scenarios:\s+[1-9]/);
  },
  (SECONDS + 120) * 1000,
);

/**
 * The document without the headers that requests may have. It takes a project for something that must be found first, and
 * starts nowhere but there; and it uses one idempotency key again and again, so that it is told anew of what it has deleted.
 */
async function withoutHeaders({ url }: Api): Promise<string> {
  const document = (await (await fetch(`${url}/v1/openapi.json`)).json()) as OpenApiDocument;
  for (const operation of Object.values(document.paths).flatMap((item) => Object.values(item))) {
    operation.parameters = operation.parameters.filter(({ $ref }) => $ref === undefined);
  }
  const file = join(folder, 'openapi.json');
  writeFileSync(file, JSON.stringify(document));
  return file;
}

async function fuzz({ key }: Api, document: string, flags: string[]) {
  const args = ['run', document, '--header', `Authorization: Bearer ${key}`, ...flags, ...FLAGS];
  // It finds its settings in the folder that it is started in, and keeps there what it finds.
  const child = spawn(program as string, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  const status = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  return { status, output: Buffer.concat(chunks).toString() };
}
