// The licences of everything a deployment contains, from package-lock.json: docs/reference/licences.md, which
// `npm run generate` writes. A test rejects a licence that is not listed here.
import { readFileSync, writeFileSync } from 'node:fs';

const ROOT = new URL('../', import.meta.url);
const PAGE = new URL('docs/reference/licences.md', ROOT);

/** Licences that any program may depend on, whatever its own. */
const ALLOWED = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'OFL-1.1', // fonts
  'Unlicense',
];

/** Packages under other terms, or whose manifest does not state its licence as SPDX does: the licence, and why it is accepted. */
const EXCEPTIONS = {
  argparse: ['Python-2.0', 'permissive; it comes with MJML'],
  'caniuse-lite': ['CC-BY-4.0', 'data under attribution; it comes with MJML'],
  slick: ['MIT', 'the manifest adds a link'],
  'type-fest': ['MIT', 'it offers the choice of CC0-1.0'],
  unionfs: ['Unlicense', 'stated only in its LICENSE file'],
};

/** What the dashboard is built from but does not contain. */
const DASHBOARD_TOOLS = ['playwright-core', 'vitest'];

/** Folders of the third-party packages of a production install, by package-lock.json. */
export const productionInstall = ({ packages }) =>
  Object.keys(packages).filter((path) => {
    const { link, dev, optional, devOptional } = packages[path];
    return path.startsWith('node_modules/') && !link && !dev && !optional && !devOptional;
  });

/** The packages that a deployment contains: those of a production install, and those bundled into the dashboard. */
export function deployedPackages(lock) {
  const { packages } = lock;
  const deployed = new Set(productionInstall(lock));
  const add = (name) => {
    const path = `node_modules/${name}`;
    if (deployed.has(path) || packages[path] === undefined || packages[path].link) return;
    deployed.add(path);
    Object.keys(packages[path].dependencies ?? {}).forEach(add);
  };
  const { devDependencies } = packages['apps/dashboard'];
  Object.keys(devDependencies)
    .filter((name) => !DASHBOARD_TOOLS.includes(name))
    .forEach(add);
  return [...deployed].map((path) => ({
    name: nameOf(path),
    version: packages[path].version,
    licence: licenceOf(nameOf(path), packages[path]),
  }));
}

const nameOf = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
const licenceOf = (name, { license }) => EXCEPTIONS[name]?.[0] ?? license ?? 'none stated';

/** Packages with a licence that is not accepted yet, such as `left-pad (WTFPL)`. */
export function unacceptable(deployed) {
  return deployed
    .filter(({ name, licence }) => !ALLOWED.includes(licence) && EXCEPTIONS[name] === undefined)
    .map(({ name, licence }) => `${name} (${licence})`);
}

function page(deployed) {
  const licences = [...new Set(deployed.map(({ licence }) => licence))].sort();
  const row = (licence) => {
    const names = new Set(deployed.filter((each) => each.licence === licence).map(({ name }) => name));
    return `| ${licence} | ${[...names].sort().join(', ')} |`;
  };
  const exceptions = Object.entries(EXCEPTIONS).map(([name, [licence, why]]) => `- ${name}: ${licence}, ${why}`);
  return `# Licences

The third-party packages that a deployment contains: those of a production install, and those bundled into the dashboard. The text of
each licence is in the package's folder in \`node_modules\`. \`npm run generate\` writes this page.

| licence | packages |
| --- | --- |
${licences.map(row).join('\n')}

Accepted individually:

${exceptions.join('\n')}
`;
}

/** Returns the path of the page, its content and the packages it lists. */
export function licences() {
  const lock = JSON.parse(readFileSync(new URL('package-lock.json', ROOT), 'utf8'));
  const deployed = deployedPackages(lock);
  return { path: PAGE, text: page(deployed), deployed };
}

export function writeLicences() {
  const { path, text } = licences();
  writeFileSync(path, text);
}
