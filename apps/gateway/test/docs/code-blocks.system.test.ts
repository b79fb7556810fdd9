import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { addLocalDomain } from '@postroom/domains';
import { db, pool } from '@postroom/platform';
import { type Api, type SignedIn, signedIn, TEST_PASSWORD, testApi } from '@postroom/testkit';
import { parseTemplate } from '@postroom/templating';
import { parse, validate } from 'graphql';
import { beforeAll, expect, test } from 'vitest';
import { schema } from '../../src/schema.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const run = promisify(execFile);

/** A code block of the README or the docs. */
interface Block {
  file: string;
  line: number;
  language: string;
  code: string;
  /** Why it does not run, from the comment above it. */
  notRun: string | undefined;
}

function blocksOf(file: string): Block[] {
  const blocks: Block[] = [];
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
  let open: Block | undefined;
  for (const [index, line] of lines.entries()) {
    const [, indent = '', language = ''] = /^( *)```(\w*)/.exec(line) ?? [];
    if (!line.trim().startsWith('```')) {
      if (open !== undefined) open.code += `${line}\n`;
    } else if (open === undefined) {
      const [, notRun] = /^ *<!-- not run: (.+) -->$/.exec(lines[index - 1] ?? '') ?? [];
      open = { file, line: index + 1, language, code: '', notRun };
    } else {
      open.code = open.code.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
      blocks.push(open);
      open = undefined;
    }
  }
  return blocks;
}

/** Blocks that are run by their own tests, which name the page. */
const RUN_ELSEWHERE: { file: string; languages: string[]; test: string }[] = [
  {
    file: 'docs/how-to/archive.md',
    languages: ['sql'],
    test: 'packages/partitions/test/archive.integration.test.ts',
  },
  {
    file: 'docs/how-to/event-export.md',
    languages: ['sql'],
    test: 'modules/insights/test/event-export.integration.test.ts',
  },
  {
    file: 'docs/reference/graphql.md',
    languages: ['graphql', 'js'],
    test: 'apps/gateway/test/graphql-docs.system.test.ts',
  },
  {
    file: 'docs/tutorials/add-a-feature.md',
    languages: ['diff', 'json', 'prisma', 'sh', 'sql', 'ts'],
    test: 'scripts/add-a-feature.system.test.ts',
  },
  {
    file: 'docs/reference/webhooks.md',
    languages: ['js', 'python', 'go'],
    test: 'apps/gateway/test/docs/webhooks-page.system.test.ts',
  },
];

/** Blocks that do not run. They are listed here so that each exception is reviewed. */
const NOT_RUN = [
  'docs/how-to/archive.md sh',
  'docs/how-to/cells.md sh',
  'docs/how-to/cells.md sh',
  'docs/how-to/cells.md sh',
  'docs/how-to/disaster-recovery.md sh',
  'docs/how-to/disaster-recovery.md sql',
  'docs/how-to/domains.md graphql',
  'docs/how-to/event-export.md sh',
  'docs/how-to/event-export.md sql',
  'docs/how-to/forms.md html',
  'docs/how-to/forms.md js',
  'docs/how-to/operations.md ini',
  'docs/how-to/operations.md sh',
  'docs/how-to/operations.md sh',
  'docs/how-to/operations.md sh',
  'docs/how-to/operations.md sh',
  'docs/how-to/privacy.md sh',
  'docs/how-to/privacy.md sh',
  'docs/how-to/production.md sh',
  'docs/how-to/production.md sh',
  'docs/how-to/production.md sh',
  'docs/how-to/production.md sh',
  'docs/how-to/production.md sh',
  'docs/how-to/production.md sh',
  'docs/how-to/production.md sh',
  'docs/how-to/production.md sh',
  'docs/how-to/providers.md graphql',
  'docs/how-to/providers.md graphql',
  'docs/how-to/providers.md graphql',
  'docs/how-to/providers.md graphql',
  'docs/how-to/providers.md sh',
  'docs/how-to/restore.md ini',
  'docs/how-to/restore.md ini',
  'docs/how-to/restore.md sh',
  'docs/how-to/restore.md sh',
  'docs/how-to/restore.md sh',
  'docs/how-to/restore.md sh',
  'docs/how-to/restore.md sh',
  'docs/how-to/sign-in.md sh',
  'docs/how-to/smtp.md js',
];

const blocks = ['README.md', ...globSync('docs/**/*.md', { cwd: ROOT })].sort().flatMap(blocksOf);
const isRunElsewhere = ({ file, language, code }: Block) =>
  RUN_ELSEWHERE.some((each) => each.file === file && each.languages.includes(language)) ||
  code.includes('openssl dgst');
const here = blocks.filter((block) => block.notRun === undefined && !isRunElsewhere(block));
const named = (language: RegExp, from = here) =>
  from.filter((block) => language.test(block.language)).map((block) => [`${block.file}:${block.line}`, block] as const);

let api: Api;
let owner: SignedIn;
let folder: string;
beforeAll(async () => {
  api = await testApi();
  owner = await signedIn(api);
  await addLocalDomain(api.projectId, 'demo.postroom.example');
  folder = mkdtempSync(join(tmpdir(), 'postroom-docs-'));
  mkdirSync(join(folder, '.postroom'));
  writeFileSync(join(folder, '.postroom/dev.json'), JSON.stringify({ keys: { full: api.key } }));
  return () => rmSync(folder, { recursive: true, force: true });
});

test('each block runs in a test, or says why not', () => {
  const known = /^(sh|json|jsonc|graphql|liquid|sql|)$/;
  expect(here.filter(({ language }) => !known.test(language)).map(({ file, line }) => `${file}:${line}`)).toEqual([]);
  const notRun = blocks.filter((block) => block.notRun !== undefined);
  expect(notRun.map(({ file, language }) => `${file} ${language}`).sort()).toEqual(NOT_RUN);
  for (const { file, test } of RUN_ELSEWHERE)
    expect(readFileSync(join(ROOT, test), 'utf8')).toContain(file.split('/').at(-1));
});

test.each(named(/^$/))('%s is program output or a drawing', (_at, { code }) => expect(code).toMatch(/[┌─►]/));

test.each(named(/^json$/))('%s is JSON', (_at, { code }) => expect(JSON.parse(code)).toBeTypeOf('object'));

test.each(named(/^jsonc$/))('%s is JSON, apart from comments and omissions', (_at, { code }) => {
  for (const line of code.split('\n').filter((each) => each !== '' && !each.startsWith('//'))) {
    expect(JSON.parse(line.replace(/…(, )?/, ''))).toBeTypeOf('object');
  }
});

test.each(named(/^liquid$/))('%s is a valid template', (_at, { code }) => {
  expect(parseTemplate(code, 'html').problems).toEqual([]);
});

test.each(named(/^graphql$/, blocks))('%s is valid for the schema', (_at, { code }) => {
  expect(validate(schema, parse(code))).toEqual([]);
});

test.each(named(/^graphql$/))('%s runs for a signed-in user', async (_at, { code }) => {
  const domain = (await db.domain.findFirst({ where: { projectId: api.projectId } }))?.id;
  const { body } = await owner.graphql(code, code.includes('$domain') ? { domain } : {});
  expect(body.errors).toBeUndefined();
});

test.each(named(/^sql$/))('%s runs', async (_at, { code }) => {
  for (const statement of code.split(';').filter((each) => each.trim() !== '')) {
    await expect(pool.query(statement)).resolves.toBeDefined();
  }
});

const scripts = Object.keys(
  (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> }).scripts,
);
/**
 * Commands that run for minutes, need their own installation, or write into this folder: only checks that the script
 * exists.
 */
const isNpm = ({ code }: Block) => code.split('\n').every((line) => /^(npm (start|test|run)\b.*|)$/.test(line));

test.each(named(/^sh$/).filter(([, block]) => isNpm(block)))('%s names existing scripts', (_at, { code }) => {
  for (const line of code.split('\n').filter((each) => each !== '')) {
    const [, script = ''] = /^npm (?:run )?([\w:-]+)/.exec(line) ?? [];
    expect(scripts).toContain(script);
  }
});

test('no page runs TypeScript with a Node version that may be too old for it', () => {
  const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: ROOT })];
  for (const page of pages) {
    const text = readFileSync(join(ROOT, page), 'utf8');
    expect([page, text.match(/\bnode [\w/.-]+\.ts\b/g)]).toEqual([page, null]);
    for (const [, script = ''] of text.matchAll(/`npm run ([\w:-]+)/g))
      expect([page, scripts]).toEqual([page, expect.arrayContaining([script])]);
  }
});

test('benchmarks named on pages exist, and a wrong name lists them', async () => {
  const { stdout } = await run(process.execPath, [join(ROOT, 'scripts/bench.mjs')]);
  for (const page of globSync('docs/**/*.md', { cwd: ROOT })) {
    for (const [, name = ''] of readFileSync(join(ROOT, page), 'utf8').matchAll(/npm run bench -- ([a-z-]+)/g)) {
      expect(stdout).toMatch(new RegExp(`\\b${name}\\b`));
    }
  }
});

/** Defined in README; the blocks below it use it too. */
const [API_FUNCTION = ''] = /^api\(\) .*$/m.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? [];

test.each(named(/^sh$/).filter(([, block]) => !isNpm(block)))('%s runs in a shell', async (_at, { code }) => {
  const script = code
    .replace('URL=http://127.0.0.1:3400', `URL=${api.url}`)
    .replaceAll('http://127.0.0.1:3400', api.url);
  const { stdout } = await run('bash', ['--norc', '-euo', 'pipefail', '-c', `${API_FUNCTION}\n${script}`], {
    cwd: folder,
    env: {
      ...process.env,
      URL: api.url,
      KEY: api.key,
      PROJECT: api.projectId,
      EMAIL: owner.email,
      PASSWORD: TEST_PASSWORD,
      CURL_HOME: curlHome(),
    },
  });
  const answers = stdout.split(/(?<=\})\s*(?=\{)/).filter((each) => each.trim() !== '');
  expect(answers.length).toBeGreaterThan(0);
  for (const answer of answers) {
    const parsed = JSON.parse(answer) as Record<string, unknown>;
    expect([parsed.error, parsed.errors]).toEqual([undefined, undefined]);
  }
});

/** Sign-ins are limited by address, and other tests use up this one's quota. */
function curlHome(): string {
  writeFileSync(
    join(folder, '.curlrc'),
    `interface = "127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}"\n`,
  );
  return folder;
}
