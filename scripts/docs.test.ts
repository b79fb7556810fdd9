import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const PAGES = globSync(['*.md', 'docs/**/*.md', '{apps,packages,sdk}/*/README.md'], { cwd: ROOT }).sort();
const read = (page: string) => readFileSync(join(ROOT, page), 'utf8').replaceAll(/^```.*?^```/gms, '');

/** The relative links of a page: the target's path in the repository, and its anchor. */
function linksOf(page: string): { target: string; anchor: string | undefined }[] {
  return [...read(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => {
      const [path = '', anchor] = link.split('#');
      return { target: path === '' ? page : relative(ROOT, resolve(ROOT, dirname(page), path)), anchor };
    });
}

/** The anchors that GitHub generates for a page's headings. */
const anchorsOf = (page: string) =>
  [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

test.each(PAGES)('%s links only to existing files and headings', (page) => {
  const broken = linksOf(page).filter(
    ({ target, anchor }) =>
      !existsSync(join(ROOT, target)) ||
      (anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).includes(anchor)),
  );
  expect(broken).toEqual([]);
});

test('every page of the docs is reachable from docs/README.md', () => {
  const reached = new Set(['docs/README.md']);
  for (const page of reached)
    if (page.endsWith('.md')) for (const { target } of linksOf(page)) if (PAGES.includes(target)) reached.add(target);
  expect(PAGES.filter((page) => page.startsWith('docs/') && !reached.has(page))).toEqual([]);
});

test('the docs are sorted by kind', () => {
  const kinds = new Set(PAGES.filter((page) => page.startsWith('docs/')).map((page) => page.split('/')[1] ?? ''));
  const folders = [...kinds].filter((kind) => !kind.endsWith('.md'));
  expect(folders.sort()).toEqual(['benchmarks', 'decisions', 'explanation', 'how-to', 'reference', 'tutorials']);
});

/** Pages about the present: the changelog also names what is gone. */
const CURRENT = PAGES.filter((page) => page !== 'CHANGELOG.md');

/** What a pattern finds on the current pages and `known` does not accept, with its page. */
const unknownOn = (pattern: RegExp, known: (name: string) => boolean, pages = CURRENT) =>
  pages.flatMap((page) =>
    [...read(page).matchAll(pattern)]
      .map(([, name = '']) => name.replaceAll(/\s+/g, ' '))
      .filter((name) => !known(name))
      .map((name) => `${page}: ${name}`),
  );

/** Made by a start or a setup. */
const MADE_LATER = /^deploy\/(\.env|secrets)\b/;

test('every path of the repository on a page exists', () => {
  const path = /`((?:apps|bench|bin|deploy|docs|modules|packages|samples|scripts|sdk|workflows)\/[\w./*-]+)`/g;
  const pages = CURRENT.filter((page) => page !== 'docs/tutorials/add-a-feature.md');
  const exists = (name: string) => MADE_LATER.test(name) || globSync(name, { cwd: ROOT }).length > 0;
  expect(unknownOn(path, exists, pages)).toEqual([]);
});

test('every operation of /v1 on a page exists', () => {
  const types = readFileSync(join(ROOT, 'sdk/typescript/src/types.ts'), 'utf8');
  const operations = new Set([...types.matchAll(/^ {2}\w+: '([A-Z]+ \/v1\/[^']+)',$/gm)].map(([, name = '']) => name));
  expect(operations.size).toBeGreaterThan(100);
  const operation = /\b((?:GET|POST|PUT|PATCH|DELETE) \/v1\/[\w{}/-]+)/g;
  expect(unknownOn(operation, (name) => operations.has(name))).toEqual([]);
});

test('every label of the dashboard in a guide exists', () => {
  const sources = globSync('apps/dashboard/src/**/*.{ts,tsx}', { cwd: ROOT, exclude: ['**/generated/**'] });
  const text = sources
    .map((file) => readFileSync(join(ROOT, file), 'utf8'))
    .join('\n')
    .replaceAll('’', "'")
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/(?<=[>}]) | (?=[<{])/g, '');
  // Between quotes or tags, perhaps before a question mark or an ellipsis.
  const isLabel = (name: string) =>
    [...`>}'"\``].some((before) => [...`<{'"\`?…`].some((after) => text.includes(before + name + after)));
  const guides = CURRENT.filter((page) => /^docs\/(how-to|tutorials)\//.test(page));
  expect(unknownOn(/(?<![*\w])\*([A-Z][^*]+)\*(?!\*)/g, isLabel, guides)).toEqual([]);
});
