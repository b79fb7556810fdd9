// Checks the prose of docs, comments, UI texts, errors and API descriptions: `npm run prose [-- file …]`. GraphQL and OpenAPI
// descriptions are checked at their source. The rules are in .textlintrc.json, our vocabulary in vocabulary.yml.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter, loadTextlintrc } from 'textlint';
import { type Passage, proseOf, proseOfPrisma } from './extract.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Text that is generated, immutable, recorded or quoted, and old measurements. */
const EXCLUDED =
  /(^|\/)(generated|histories|fixtures)\/|^sdk\/typescript\/src\/types\.ts$|^docs\/(benchmarks\/|reference\/licences\.md$)|^scripts\/language\.test\.ts$/;

const linter = createLinter({
  descriptor: await loadTextlintrc({ configFilePath: join(ROOT, '.textlintrc.json') }),
  cwd: ROOT,
});

/** The problems of a file's prose, as lines such as `file.ts:12: message (rule)`. */
export async function problemsIn(file: string, source: string): Promise<string[]> {
  // One Markdown document per file, so that code in backticks is skipped.
  const lines: number[] = [];
  const texts: string[] = [];
  for (const { line, text } of passagesOf(file, source)) {
    const height = text.split('\n').length;
    for (let offset = 0; offset <= height; offset++) lines.push(line + Math.min(offset, height - 1));
    texts.push(`${text}\n`);
  }
  const { messages } = await linter.lintText(texts.join('\n'), 'passages.md');
  return messages.map(
    ({ loc, message, ruleId }) =>
      `${file}:${lines[loc.start.line - 1]}: ${message.replaceAll(/\s+/g, ' ').replace(' => ', ': write ')} (${ruleId})`,
  );
}

function passagesOf(file: string, source: string): Passage[] {
  if (file.endsWith('.md')) return [{ line: 1, text: source }];
  return file.endsWith('.prisma') ? proseOfPrisma(source) : proseOf(file, source);
}

if (import.meta.main) {
  const patterns = ['*.md', '*.ts', '*.tsx', '*.mjs', '*.prisma'];
  const tracked = execFileSync('git', ['ls-files', '-z', '--', ...patterns], { cwd: ROOT, encoding: 'utf8' });
  const given = process.argv.slice(2);
  const files = (given.length > 0 ? given : tracked.split('\0')).filter((file) => file !== '' && !EXCLUDED.test(file));
  const problems: string[] = [];
  for (const file of files) problems.push(...(await problemsIn(file, readFileSync(join(ROOT, file), 'utf8'))));
  for (const problem of problems) console.error(problem);
  console.log(`${problems.length} problems in the prose of ${files.length} files.`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
