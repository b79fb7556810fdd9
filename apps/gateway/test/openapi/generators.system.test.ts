import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { testApi } from '@postroom/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { built, goTools, GUZZLE, javaTools, npmTools, phpTools, pythonTools } from './tools.ts';

// Generates clients from the served document without flags, compiles them, and makes real calls: each adds a contact,
// lists the contacts, and requests a contact that does not exist. Generated and compiled clients are kept in the user's cache,
// by the document and these programs: what a build says can't change before they do.

const exec = promisify(execFile);
const temporary = mkdtempSync(join(tmpdir(), 'postroom-clients-'));
const document = join(temporary, 'openapi.json');
const PROGRAM_TIMEOUT_MS = 240_000;
/** Compiles as for a short run. The generators and javac need half the CPU with it. */
const SHORT_JAVA = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC';

const [npm, python, java, go, php] = await Promise.all([npmTools(), pythonTools(), javaTools(), goTools(), phpTools()]);

let hash: string;
beforeAll(async () => {
  const text = await (await fetch(`${(await testApi()).url}/v1/openapi.json`)).text();
  writeFileSync(document, text);
  const sources = [
    text,
    ...['generators.system.test.ts', 'tools.ts'].map((name) => readFileSync(join(import.meta.dirname, name))),
  ];
  hash = sources
    .reduce((sum, source) => sum.update(source), createHash('sha256'))
    .digest('hex')
    .slice(0, 16);
}, PROGRAM_TIMEOUT_MS);
afterAll(() => rmSync(temporary, { recursive: true, force: true }));

/** The folder of a client and its program, built if need be. */
const client = (name: string, build: (folder: string) => Promise<unknown>) => built(name, hash, build);

/** Runs a program and returns its output; on failure, the error contains what went wrong. */
async function run(
  command: string,
  args: string[],
  { cwd = temporary, env = {} }: { cwd?: string; env?: object } = {},
) {
  const options = { cwd, env: { ...process.env, JAVA_TOOL_OPTIONS: SHORT_JAVA, ...env }, maxBuffer: 64 << 20 };
  return exec(command, args, options).catch((error: { stdout: string; stderr: string; message: string }) => {
    throw new Error(`${command} ${args.join(' ')}\n${error.message}\n${error.stdout}`.slice(0, 4000));
  });
}

/** Runs an npm tool with this Node. */
const runNode = (bin: string, args: string[], cwd = temporary) =>
  run(process.execPath, [join(npm as string, 'node_modules', bin), ...args], { cwd });

const generate = (generator: string, output: string, ...flags: string[]) =>
  run('java', [
    '-jar',
    join(java as string, 'openapi-generator-cli.jar'),
    'generate',
    '-i',
    document,
    '-g',
    generator,
    '-o',
    output,
    ...flags,
  ]);

const file = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

/** The results of a client's calls in its own project. */
async function calls(call: (key: string, url: string) => Promise<{ stdout: string }>): Promise<unknown> {
  const own = await testApi();
  const { stdout } = await call(own.key, own.url);
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}
const ANSWERED = { name: 'Ada Lovelace', emails: ['ada@example.com'], status: 404 };

const AXIOS_AND_FETCH = (create: string) => `
import { Configuration, ContactsApi } from './client';
async function main([, , key, url]: string[]) {
  ${create}
}
main(process.argv).catch((error) => { console.error(error); process.exit(1); });`;

/** In place of the server's URL, in a client that contains it. */
const BUILT_IN_URL = 'http://postroom.invalid';

/** Programs that use the client generated in the folder \`client\` next to them. */
const TYPESCRIPT: Record<string, { generate: (output: string) => Promise<unknown>; program: string }> = {
  'typescript-fetch of openapi-generator': {
    generate: (output) => generate('typescript-fetch', output),
    program: AXIOS_AND_FETCH(`
  const contacts = new ContactsApi(new Configuration({ basePath: url, accessToken: key }));
  const { data } = await contacts.createContact({ createContactInput: { email: 'ada@example.com', name: 'Ada Lovelace' } });
  const list = await contacts.listContacts();
  const status: number = await contacts.getContact({ id: 'ctc_none' }).then(() => 200, (error) => error.response.status);
  console.log(JSON.stringify({ name: data.name, emails: list.data.map(({ email }) => email), status }));`),
  },
  'typescript-axios of openapi-generator': {
    generate: (output) => generate('typescript-axios', output),
    program: AXIOS_AND_FETCH(`
  const contacts = new ContactsApi(new Configuration({ basePath: url, accessToken: key }));
  const { data } = await contacts.createContact({ email: 'ada@example.com', name: 'Ada Lovelace' });
  const list = await contacts.listContacts();
  const status: number = await contacts.getContact('ctc_none').then(() => 200, (error) => error.response.status);
  console.log(JSON.stringify({ name: data.data.name, emails: list.data.data.map(({ email }) => email), status }));`),
  },
  'hey-api': {
    generate: (output) => runNode('@hey-api/openapi-ts/bin/run.js', ['-i', document, '-o', output]),
    program: `
import { createContact, getContact, listContacts } from './client';
import { client } from './client/client.gen';
async function main([, , key, url]: string[]) {
  client.setConfig({ baseUrl: url, auth: key });
  const made = await createContact({ body: { email: 'ada@example.com', name: 'Ada Lovelace' } });
  const list = await listContacts();
  const { response } = await getContact({ path: { id: 'ctc_none' } });
  const emails = list.data?.data.map(({ email }) => email);
  console.log(JSON.stringify({ name: made.data?.data.name, emails, status: response?.status }));
}
main(process.argv).catch((error) => { console.error(error); process.exit(1); });`,
  },
  'openapi-typescript with openapi-fetch': {
    generate: (output) => runNode('openapi-typescript/bin/cli.js', [document, '-o', join(output, 'index.ts')]),
    program: `
import createClient from 'openapi-fetch';
import type { paths } from './client';
async function main([, , key, url]: string[]) {
  const client = createClient<paths>({ baseUrl: url, headers: { Authorization: \`Bearer \${key}\` } });
  const made = await client.POST('/v1/contacts', { body: { email: 'ada@example.com', name: 'Ada Lovelace' } });
  const list = await client.GET('/v1/contacts');
  const { response } = await client.GET('/v1/contacts/{id}', { params: { path: { id: 'ctc_none' } } });
  const emails = list.data?.data.map(({ email }) => email);
  console.log(JSON.stringify({ name: made.data?.data.name, emails, status: response.status }));
}
main(process.argv).catch((error) => { console.error(error); process.exit(1); });`,
  },
  orval: {
    generate: (output) => {
      const target = { target: join(output, 'index.ts'), client: 'fetch', baseUrl: BUILT_IN_URL };
      writeFileSync(
        join(output, 'orval.config.mjs'),
        `export default ${JSON.stringify({ api: { input: document, output: target } })};`,
      );
      return runNode('orval/dist/bin/orval.mjs', ['--config', join(output, 'orval.config.mjs')], output);
    },
    program: `
import { createContact, getContact, listContacts } from './client';
async function main([, , key, url]: string[]) {
  const send = globalThis.fetch;
  globalThis.fetch = (path, init) => send(String(path).replace('${BUILT_IN_URL}', url), init);
  const headers = { Authorization: \`Bearer \${key}\` };
  const made = await createContact({ email: 'ada@example.com', name: 'Ada Lovelace' }, { headers });
  const list = await listContacts({}, { headers });
  const { status } = await getContact('ctc_none', { headers });
  if (made.status !== 201 || list.status !== 200) throw new Error(JSON.stringify([made, list]));
  console.log(JSON.stringify({ name: made.data.data.name, emails: list.data.data.map(({ email }) => email), status }));
}
main(process.argv).catch((error) => { console.error(error); process.exit(1); });`,
  },
};

const folderOf = (name: string) => `typescript/${name.replaceAll(' ', '-')}`;

test.skipIf(npm === undefined || java === undefined)(
  'TypeScript clients compile and run: openapi-generator (fetch and axios), hey-api, openapi-typescript, orval',
  async () => {
    const folder = await client('typescript', async (folder) => {
      await Promise.all(
        Object.entries(TYPESCRIPT).map(async ([name, { generate: write, program }]) => {
          const output = join(folder, folderOf(name), 'client');
          mkdirSync(output, { recursive: true });
          writeFileSync(join(output, '../main.ts'), program);
          await write(output);
        }),
      );
      symlinkSync(join(npm as string, 'node_modules'), join(folder, 'node_modules'));
      const options = {
        strict: true,
        skipLibCheck: true,
        target: 'ES2022',
        module: 'Node16',
        lib: ['ES2022', 'DOM', 'DOM.Iterable'],
        types: ['node'],
        outDir: 'built',
        rootDir: 'typescript',
      };
      writeFileSync(join(folder, 'package.json'), '{"private":true}');
      const config = { compilerOptions: options, include: ['typescript/**/*.ts'] };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
      await runNode('typescript/bin/tsc', ['-p', folder]);
    });
    for (const name of Object.keys(TYPESCRIPT)) {
      const program = join(folder, folderOf(name).replace('typescript', 'built'), 'main.js');
      expect(await calls((key, url) => run(process.execPath, [program, key, url])), name).toEqual(ANSWERED);
    }
  },
  PROGRAM_TIMEOUT_MS,
);

const GENERATED_PYTHON = `
import json, sys
from openapi_client import ApiClient, ApiException, Configuration, ContactsApi, CreateContactInput
key, url = sys.argv[1:]
contacts = ContactsApi(ApiClient(Configuration(host=url, access_token=key)))
made = contacts.create_contact(CreateContactInput(email='ada@example.com', name='Ada Lovelace'))
found = contacts.list_contacts()
try:
    contacts.get_contact('ctc_none')
    status = 200
except ApiException as error:
    status = error.status
print(json.dumps({'name': made.data.name, 'emails': [each.email for each in found.data], 'status': status}))
`;

test.skipIf(python === undefined || java === undefined)(
  'a Python client from openapi-generator compiles and runs',
  async () => {
    const bin = join(python as string, 'bin/python');
    const cwd = await client('python', async (folder) => {
      await generate('python', folder);
      file(join(folder, 'main.py'), GENERATED_PYTHON);
      await run(bin, ['-m', 'compileall', '-q', 'openapi_client'], { cwd: folder });
    });
    expect(await calls((key, url) => run(bin, ['main.py', key, url], { cwd }))).toEqual(ANSWERED);
  },
  PROGRAM_TIMEOUT_MS,
);

const PYTHON_CLIENT = `
import json, sys
from postroom_client import AuthenticatedClient
from postroom_client.api.contacts import create_contact, get_contact, list_contacts
from postroom_client.models import CreateContactInput
key, url = sys.argv[1:]
client = AuthenticatedClient(base_url=url, token=key)
made = create_contact.sync(client=client, body=CreateContactInput(email='ada@example.com', name='Ada Lovelace'))
found = list_contacts.sync(client=client)
status = int(get_contact.sync_detailed('ctc_none', client=client).status_code)
print(json.dumps({'name': made.data.name, 'emails': [each.email for each in found.data], 'status': status}))
`;

test.skipIf(python === undefined)(
  'a Python client from openapi-python-client compiles and runs',
  async () => {
    const bin = join(python as string, 'bin');
    const folder = await client('openapi-python-client', async (folder) => {
      const env = { PATH: bin + delimiter + process.env.PATH };
      const generator = ['-m', 'openapi_python_client', 'generate', '--path', document];
      await run(join(bin, 'python'), generator, { env, cwd: folder });
      const cwd = join(folder, 'postroom-client');
      file(join(cwd, 'main.py'), PYTHON_CLIENT);
      await run(join(bin, 'python'), ['-m', 'compileall', '-q', 'postroom_client'], { cwd });
    });
    const cwd = join(folder, 'postroom-client');
    expect(await calls((key, url) => run(join(bin, 'python'), ['main.py', key, url], { cwd }))).toEqual(ANSWERED);
  },
  PROGRAM_TIMEOUT_MS,
);

/** Java has no optional arguments: each parameter of the list is null. */
const JAVA = (setUp: string, parameters: number) => `
import org.openapitools.client.*;
import org.openapitools.client.api.ContactsApi;
import org.openapitools.client.model.*;
public class Main {
  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    ${setUp}
    ContactsApi contacts = new ContactsApi(client);
    CreateContactInput input = new CreateContactInput().email("ada@example.com").name("Ada Lovelace");
    ContactResponse made = contacts.createContact(input, null, null);
    ContactListResponse list = contacts.listContacts(${Array.from({ length: parameters }, () => 'null').join(', ')});
    int status = 200;
    try { contacts.getContact("ctc_none", null); } catch (ApiException error) { status = error.getCode(); }
    System.out.println("{\\"name\\":\\"" + made.getData().getName() + "\\",\\"emails\\":[\\"" + list.getData().get(0).getEmail() + "\\"],\\"status\\":" + status + "}");
  }
}`;

test.skipIf(java === undefined).each([
  ['okhttp-gson', 'client.setBasePath(args[1]); client.setBearerToken(args[0]);'],
  [
    'native',
    'client.updateBaseUri(args[1]); client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + args[0]));',
  ],
])(
  'a Java client from openapi-generator compiles and runs: %s',
  async (library, setUp) => {
    const libraries = join(java as string, 'lib/*');
    const cwd = await client(`java-${library}`, async (output) => {
      await generate('java', output, '--library', library);
      const { paths } = JSON.parse(readFileSync(document, 'utf8')) as {
        paths: Record<string, { get: { parameters: [] } }>;
      };
      const main = JAVA(setUp, paths['/v1/contacts']?.get.parameters.length ?? 0);
      file(join(output, 'src/main/java/Main.java'), main);
      const { stdout: sources } = await run('find', ['src/main/java', '-name', '*.java'], { cwd: output });
      writeFileSync(join(output, 'sources'), sources);
      await run('javac', ['-nowarn', '-proc:none', '-cp', libraries, '-d', 'built', '@sources'], { cwd: output });
    });
    expect(await calls((key, url) => run('java', ['-cp', `built:${libraries}`, 'Main', key, url], { cwd }))).toEqual(
      ANSWERED,
    );
  },
  PROGRAM_TIMEOUT_MS,
);

const GENERATED_GO = `package main

import (
	"context"
	"encoding/json"
	"os"

	client "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func main() {
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: os.Args[2]}}
	contacts := client.NewAPIClient(configuration).ContactsAPI
	ctx := context.WithValue(context.Background(), client.ContextAccessToken, os.Args[1])
	input := client.NewCreateContactInput("ada@example.com")
	input.SetName("Ada Lovelace")
	made, _, err := contacts.CreateContact(ctx).CreateContactInput(*input).Execute()
	if err != nil { panic(err) }
	list, _, err := contacts.ListContacts(ctx).Execute()
	if err != nil { panic(err) }
	_, none, _ := contacts.GetContact(ctx, "ctc_none").Execute()
	emails := []string{}
	for _, each := range list.Data { emails = append(emails, each.Email) }
	json.NewEncoder(os.Stdout).Encode(map[string]any{"name": made.Data.Name, "emails": emails, "status": none.StatusCode})
}
`;

test.skipIf(java === undefined || go === undefined)(
  'a Go client from openapi-generator compiles and runs',
  async () => {
    const cwd = await client('go', async (folder) => {
      await generate('go', folder);
      file(join(folder, 'cmd/main.go'), GENERATED_GO);
      await run('go', ['mod', 'tidy'], { cwd: folder });
      await run('go', ['build', '-o', 'program', './cmd'], { cwd: folder });
    });
    expect(await calls((key, url) => run(join(cwd, 'program'), [key, url]))).toEqual(ANSWERED);
  },
  PROGRAM_TIMEOUT_MS,
);

const OAPI_CODEGEN = `package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"

	"example.com/calls/api"
)

func main() {
	authorized := api.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Args[1])
		return nil
	})
	client, err := api.NewClientWithResponses(os.Args[2], authorized)
	if err != nil { panic(err) }
	ctx, name := context.Background(), "Ada Lovelace"
	made, err := client.CreateContactWithResponse(ctx, nil, api.CreateContactInput{Email: "ada@example.com", Name: &name})
	if err != nil { panic(err) }
	list, err := client.ListContactsWithResponse(ctx, nil)
	if err != nil { panic(err) }
	none, err := client.GetContactWithResponse(ctx, "ctc_none", nil)
	if err != nil { panic(err) }
	emails := []string{}
	for _, each := range list.JSON200.Data { emails = append(emails, string(each.Email)) }
	json.NewEncoder(os.Stdout).Encode(map[string]any{"name": made.JSON201.Data.Name, "emails": emails, "status": none.StatusCode()})
}
`;

test.skipIf(go === undefined)(
  'a Go client from oapi-codegen compiles and runs',
  async () => {
    const cwd = await client('oapi-codegen', async (folder) => {
      file(join(folder, 'main.go'), OAPI_CODEGEN);
      file(join(folder, 'go.mod'), 'module example.com/calls\n\ngo 1.24\n');
      const flags = ['-package', 'api', '-generate', 'types,client', document];
      const { stdout } = await run(join(go as string, 'oapi-codegen'), flags);
      file(join(folder, 'api/api.go'), stdout);
      await run('go', ['mod', 'tidy'], { cwd: folder });
      await run('go', ['build', '-o', 'program', '.'], { cwd: folder });
    });
    expect(await calls((key, url) => run(join(cwd, 'program'), [key, url]))).toEqual(ANSWERED);
  },
  PROGRAM_TIMEOUT_MS,
);

const PHP = `<?php
require '${GUZZLE}';
spl_autoload_register(function ($class) {
  $path = __DIR__ . '/lib/' . str_replace('\\\\', '/', substr($class, strlen('OpenAPI\\\\Client\\\\'))) . '.php';
  if (str_starts_with($class, 'OpenAPI\\\\Client\\\\') && is_file($path)) require $path;
});
$configuration = (new OpenAPI\\Client\\Configuration())->setHost($argv[2])->setAccessToken($argv[1]);
$contacts = new OpenAPI\\Client\\Api\\ContactsApi(new GuzzleHttp\\Client(), $configuration);
$made = $contacts->createContact(new OpenAPI\\Client\\Model\\CreateContactInput(['email' => 'ada@example.com', 'name' => 'Ada Lovelace']));
$emails = array_map(fn ($each) => $each->getEmail(), $contacts->listContacts()->getData());
try { $contacts->getContact('ctc_none'); $status = 200; } catch (OpenAPI\\Client\\ApiException $error) { $status = $error->getCode(); }
echo json_encode(['name' => $made->getData()->getName(), 'emails' => $emails, 'status' => $status]);
`;

test.skipIf(java === undefined || php === undefined)(
  'a PHP client from openapi-generator compiles and runs',
  async () => {
    const cwd = await client('php', async (folder) => {
      await generate('php', folder);
      file(join(folder, 'main.php'), PHP);
      // Loads every class to find syntax errors.
      const { stdout } = await run('find', ['lib', '-name', '*.php'], { cwd: folder });
      const load = stdout
        .trim()
        .split('\n')
        .map((path) => `token_get_all(file_get_contents('${path}'), TOKEN_PARSE);`);
      file(join(folder, 'parse.php'), `<?php\n${load.join('\n')}`);
      await run('php', ['parse.php'], { cwd: folder });
    });
    expect(await calls((key, url) => run('php', ['main.php', key, url], { cwd }))).toEqual(ANSWERED);
  },
  PROGRAM_TIMEOUT_MS,
);

test.skipIf(npm === undefined)(
  'Spectral and Redocly report nothing with their recommended rules',
  async () => {
    await client('linted', async (folder) => {
      file(join(folder, 'spectral.yaml'), 'extends: ["spectral:oas"]\n');
      const spectral = ['lint', '-r', join(folder, 'spectral.yaml'), '--fail-severity', 'hint', document];
      await runNode('@stoplight/spectral-cli/dist/index.js', spectral);
      const redocly = ['lint', '--extends', 'recommended', document];
      const { stderr, stdout } = await runNode('@redocly/cli/bin/cli.js', redocly);
      expect(stdout + stderr).toMatch(/Your API description is valid/);
      expect(stdout + stderr).not.toMatch(/You have \d+ warning/);
    });
  },
  PROGRAM_TIMEOUT_MS,
);
