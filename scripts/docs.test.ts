import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const PAGES = globSync(['*.md', 'docs/**/*.md', '{packages,sdk}/*/README.md'], { cwd: ROOT }).sort();
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
