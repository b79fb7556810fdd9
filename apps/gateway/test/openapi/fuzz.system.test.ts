import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Api, testApi } from '@postroom/testkit';
import { afterAll, expect, test } from 'vitest';
import { everything } from '../rest/fixtures.ts';
import type { OpenApiDocument } from '../../src/openapi/document.ts';
import { schemathesis } from './schemathesis.ts';

const program = await schemathesis();
const folder = mkdtempSync(join(tmpdir(), 'postroom-fuzz-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Data that is valid for the schema but rejected for reasons a schema can't express. Everywhere else, valid data must
 * be accepted.
 */
const REFUSED_FOR_OTHER_REASONS: Record<string, string> = {
  'PATCH /v1/campaigns/{id}': 'null is the same as not given, and an update needs something that is',
  'PATCH /v1/contacts/{id}': 'custom fields must exist, and their values be of their types',
  'PATCH /v1/custom-fields/{id}': 'only a select has options',
  'PATCH /v1/emails/{id}': 'the time must be in the future',
  'PATCH /v1/groups/{id}': 'a contact must exist',
  'PATCH /v1/segments/{id}': 'the filter is a language of its own',
  'PATCH /v1/templates/{id}':
    'the body must be well-formed MJML when its format says so, and placeholders must be closed',
  'PATCH /v1/webhooks/{id}': 'the URL must be one that is reachable from the Internet',
  'POST /v1/campaigns': 'groups and segments must exist',
  'POST /v1/campaigns/{id}/recipients/resend': 'duplicates must be accepted',
  'POST /v1/campaigns/{id}/schedule': 'the time must be in the future, and the campaign complete',
  'POST /v1/campaigns/{id}/send': 'the campaign must be complete',
  'POST /v1/campaigns/{id}/test': 'the campaign must be complete',
  'POST /v1/contacts': 'custom fields must exist, and their values be of their types',
  'POST /v1/contacts/batch': 'numbers in custom fields must be exact in every JSON parser, at any depth',
  'POST /v1/custom-fields': 'only a select has options, and it must have some',
  'POST /v1/emails': 'the sender must be at a domain of the project, and the template published',
  'POST /v1/emails/batch': 'the sender must be at a domain of the project, and the template published',
  'POST /v1/groups': 'a contact must exist',
  'POST /v1/groups/{id}/contacts': 'contacts must be named, by id or by address',
  'POST /v1/imports': 'the file must be a table, and the options fit it',
  'POST /v1/segments': 'the filter is a language of its own',
  'POST /v1/segments/preview': 'the filter is a language of its own',
  'POST /v1/templates': 'the body must be well-formed MJML when its format says so, and placeholders must be closed',
  'POST /v1/webhooks': 'the URL must be one that is reachable from the Internet',
};

// Every text is a CSV file, even `null`, so no body of that type is invalid.
writeFileSync(
  join(folder, 'schemathesis.toml'),
  `hooks = "hooks.py"
[generation]
allow-x00 = false
[[operations]]
include-name = "POST /v1/imports"
checks.negative_data_rejection.enabled = false
checks.positive_data_acceptance.enabled = false
[[operations]]
# Adding contacts to a group creates none: what is added exists before, and a list may be empty.
include-name = "DELETE /v1/groups/{id}/contacts/{contact_id}"
checks.ensure_resource_availability.enabled = false
# A group keeps its last member.
checks.positive_data_acceptance.enabled = false
${Object.keys(REFUSED_FOR_OTHER_REASONS)
  .filter((name) => name !== 'POST /v1/imports')
  .map((name) => `[[operations]]\ninclude-name = "${name}"\nchecks.positive_data_acceptance.enabled = false\n`)
  .join('')}`,
);
// Cursors are issued by lists and can't be generated, so well-formed ones are omitted.
writeFileSync(
  join(folder, 'hooks.py'),
  `import re
import schemathesis

@schemathesis.hook
def before_call(context, case, kwargs):
    if re.fullmatch(r"[A-Za-z0-9_-]{1,64}", str((case.query or {}).get("cursor", ""))):
        del case.query["cursor"]
`,
);

/** Duration of each run. A fixed seed makes it repeatable; set another one to explore further. */
const SECONDS = Number(process.env.FUZZ_SECONDS ?? 30);
const SEED = process.env.FUZZ_SEED ?? '1';

/** Every check except the one that needs two users. */
const FLAGS = [
  ['--exclude-checks', 'object_level_authorization'],
  ['--max-time', String(SECONDS)],
  ['--seed', SEED],
  ['--rate-limit', '95/s'],
  ['--request-timeout', '20'],
  ['--continue-on-failure'],
  ['--no-color'],
].flat();

test.skipIf(program === undefined)(
  'schemathesis finds no 5xx, no undocumented response and no valid data rejected (needs Python)',
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
  'schemathesis finds none in sequences of linked requests either (needs Python)',
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
 * The document without request headers. Otherwise schemathesis would treat the project as a resource to find first, and
 * would reuse one idempotency key, so that deletions are replayed.
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
  // It reads its settings from the working directory, and writes its findings there.
  const child = spawn(program as string, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  const status = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  return { status, output: Buffer.concat(chunks).toString() };
}
