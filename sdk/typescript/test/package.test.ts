import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { testApi } from '@postroom/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

const run = promisify(execFile);
const PACKAGE = join(import.meta.dirname, '..');
const ROOT = join(PACKAGE, '../..');
const project = mkdtempSync(join(tmpdir(), 'postroom-sdk-'));

interface Packed {
  filename: string;
  files: { path: string }[];
}
let packed: Packed;

/** A fresh project that has installed what would be published. */
beforeAll(async () => {
  // `prepack` builds what is packed, also where scripts are switched off.
  const flags = ['--json', '--silent', '--ignore-scripts=false', '--pack-destination', project];
  const { stdout } = await run('npm', ['pack', ...flags], { cwd: PACKAGE });
  packed = (JSON.parse(stdout.slice(stdout.indexOf('['))) as [Packed])[0];
  const target = join(project, 'node_modules/postroom');
  mkdirSync(target, { recursive: true });
  await run('tar', ['xzf', join(project, packed.filename), '--strip-components=1', '-C', target]);
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
}, 120_000);

afterAll(() => rmSync(project, { recursive: true, force: true }));

test('what is published is the built code with its types, the readme and the license, and nothing else', () => {
  const paths = packed.files.map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining(['package.json', 'README.md', 'LICENSE', 'dist/index.js', 'dist/index.d.ts']),
  );
  expect(paths.filter((path) => !/^dist\/[a-z]+\.(js|d\.ts)$/.test(path)).toSorted()).toEqual([
    'LICENSE',
    'README.md',
    'package.json',
  ]);
});

const PROGRAM = `
import { Postroom, PostroomError, verifyWebhook, type Contact, type PostroomEvent } from 'postroom';

const postroom = new Postroom({ apiKey: process.argv[2]!, baseUrl: process.argv[3]! });
const ada: Contact = await postroom.contacts.create({ email: 'ada@example.com', custom_fields: {} });
const emails: string[] = [];
for await (const contact of postroom.contacts.list()) emails.push(contact.email);
const code = await postroom.groups.get('grp_nobody').then(
  () => 'found',
  (error: unknown) => (error instanceof PostroomError ? error.code : 'other'),
);
console.log(JSON.stringify({ name: ada.name, emails, code }));

export async function handle(body: string, headers: Headers): Promise<string> {
  const event: PostroomEvent = await verifyWebhook(body, headers, 'whsec_x');
  if (event.type === 'email.bounced') return event.data.reason;
  // @ts-expect-error a contact's event has no reason
  if (event.type === 'contact.created') return event.data.reason;
  return event.id;
}
// @ts-expect-error a group needs a name
export const wrong = () => postroom.groups.create({});
`;

test('in a fresh project its types hold, and what they forbid is refused', async () => {
  writeFileSync(join(project, 'program.ts'), PROGRAM);
  const options = {
    strict: true,
    noEmit: true,
    module: 'NodeNext',
    target: 'ES2022',
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['program.ts'] }));
  const { stdout } = await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', project]).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe('');
});

test('in a fresh project it runs on plain Node against the real gateway', async () => {
  writeFileSync(join(project, 'program.ts'), PROGRAM);
  const api = await testApi();
  const { stdout } = await run(process.execPath, [join(project, 'program.ts'), api.key, api.url]);
  expect(JSON.parse(stdout)).toEqual({ name: 'ada', emails: ['ada@example.com'], code: 'not_found' });
});
