// The software bill of materials of a deployment, as CycloneDX: the packages that docs/reference/licences.md lists. `npm sbom` knows
// which packages there are; with --omit=dev it leaves out those that development needs as well, so it lists all, and we choose.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deployedPackages } from './licences.mjs';
import { ROOT } from './setup.mjs';

/** The bill of this checkout's packages, under a version of Postroom. */
export function billOfMaterials(version) {
  const text = execFileSync('npm', ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const bill = JSON.parse(text);
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const deployed = new Set(deployedPackages(lock).map(({ name, version }) => `${name}@${version}`));
  const components = bill.components.filter((component) => deployed.has(component['bom-ref']));
  const known = new Set(components.map((component) => component['bom-ref']));
  const root = bill.metadata.component['bom-ref'];
  const dependencies = bill.dependencies
    .filter(({ ref }) => ref === root || known.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => known.has(other)) }));
  const component = { ...bill.metadata.component, name: 'postroom', version };
  return { ...bill, metadata: { ...bill.metadata, component }, components, dependencies };
}
