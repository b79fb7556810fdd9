// `npm run release -- 1.2.0`: sets the version of every package, dates the changelog and the upgrade notes, commits and tags, and
// writes a software bill of materials to publish with the release. It pushes nothing.
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { billOfMaterials } from './sbom.mjs';
import { fail, ROOT, SetupError } from './setup.mjs';

const MANIFESTS = [
  'package.json',
  '{apps,modules,packages}/*/package.json',
  'workflows/package.json',
  'sdk/*/package.json',
];

try {
  release(process.argv[2]);
} catch (error) {
  fail(error);
}

function release(version) {
  if (!/^\d+\.\d+\.\d+(-[0-9a-z.-]+)?$/.test(version ?? ''))
    throw new SetupError('Usage: npm run release -- <version>, such as 1.2.0 or 2.0.0-beta.1');
  if (git('status', '--porcelain') !== '') throw new SetupError('Commit or stash your changes first.');
  if (git('tag', '--list', `v${version}`) !== '') throw new SetupError(`The tag v${version} already exists.`);
  const changelog = join(ROOT, 'CHANGELOG.md');
  const text = readFileSync(changelog, 'utf8');
  const unreleased = /## Unreleased\n+([\s\S]*?)(?=\n## |$)/.exec(text)?.[1]?.trim() ?? '';
  if (unreleased === '') throw new SetupError('CHANGELOG.md has nothing under "Unreleased".');
  for (const file of globSync(MANIFESTS, { cwd: ROOT })) setVersion(join(ROOT, file), version);
  setLockVersions(version);
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(changelog, text.replace('## Unreleased\n', `## Unreleased\n\n## ${version} (${date})\n`));
  const notes = join(ROOT, 'docs/how-to/upgrade.md');
  writeFileSync(notes, readFileSync(notes, 'utf8').replace('### Unreleased\n', `### Unreleased\n\n### ${version}\n`));
  git('add', '--all');
  git('commit', '--quiet', '--message', `release: ${version}`);
  git('tag', '--annotate', `v${version}`, '--message', unreleased);
  const bill = join(ROOT, 'dist', `postroom-${version}.cdx.json`);
  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  writeFileSync(bill, `${JSON.stringify(billOfMaterials(version), null, 2)}\n`);
  console.log(`Created the commit and tag v${version}, and ${bill}. Publish with: git push --follow-tags`);
}

/** Changes only this line, so that the rest of the file keeps its format. */
function setVersion(file, version) {
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/^( {2}"version": ")[^"]+(")/m, `$1${version}$2`));
}

function setLockVersions(version) {
  const file = join(ROOT, 'package-lock.json');
  const lock = JSON.parse(readFileSync(file, 'utf8'));
  lock.version = version;
  for (const [path, entry] of Object.entries(lock.packages))
    if ((path === '' || !path.includes('node_modules/')) && entry.version !== undefined) entry.version = version;
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
}

function git(...args) {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
}
