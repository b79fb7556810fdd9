import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SECRETS, SECTIONS } from '@postroom/settings';
import { PAGE, settingsPage } from './page.ts';

const ROOT = join(import.meta.dirname, '../..');
const SETTINGS = Object.assign({}, ...Object.values(SECTIONS)) as Record<string, { description?: string }>;
/** Variables of the operating system, npm, Node and the tools of this repository, not settings of a deployment. */
const OTHERS =
  /^(PATH|CI|NO_COLOR|XDG_\w+|INIT_CWD|CHROMIUM_PATH|npm_\w+|FUZZ_\w+|REQUIRE_ALL|MALLOC_\w+|SMALL_MEMORY)$/;
/** What documentation shows of a customer's program, of the Temporal SDK and of GraphQL's errors. */
const OF_OTHERS = /^(WEBHOOK_SECRET|TEMPORAL_(TLS|GRPC|CONFIG|PROFILE)\w*|GRAPHQL_(PARSE|VALIDATION)_FAILED)$/;

test('docs/reference/settings.md is current: `npm run generate` writes it', () => {
  expect(readFileSync(PAGE, 'utf8')).toBe(settingsPage());
});

test('every setting is described', () => {
  const undescribed = Object.keys(SETTINGS).filter((name) => (SETTINGS[name]?.description ?? '') === '');
  expect(undescribed).toEqual([]);
});

test('every variable that the docs name as a setting is one', () => {
  const pages = globSync(['*.md', 'docs/{how-to,tutorials,explanation,reference}/*.md'], { cwd: ROOT });
  const named = pages.flatMap((page) =>
    [...readFileSync(join(ROOT, page), 'utf8').matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`/g)].map(
      ([, name = '']) => name,
    ),
  );
  const files = new Set(SECRETS.map((name) => `${name}_FILE`));
  const unknown = named.filter(
    (name) => !(name in SETTINGS || files.has(name) || OTHERS.test(name) || OF_OTHERS.test(name)),
  );
  expect([...new Set(unknown)]).toEqual([]);
});

test('programs read no variable that is not a setting', () => {
  const sources = globSync('{apps,modules}/*/src/**/*.ts', { cwd: ROOT });
  const read = sources.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/process\.env\.(\w+)/g)].map(
      ([, name = '']) => `${file}: ${name}`,
    ),
  );
  const unknown = read.filter((use) => {
    const name = use.slice(use.indexOf(': ') + 2);
    return !(name in SETTINGS || OTHERS.test(name));
  });
  expect(unknown).toEqual([]);
});
