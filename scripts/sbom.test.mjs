import { expect, test } from 'vitest';
import { licences } from './licences.mjs';
import { billOfMaterials } from './sbom.mjs';

test('the bill of materials lists what a deployment contains, with versions, licences and checksums, and nothing else', () => {
  const bill = billOfMaterials('1.2.3');
  expect(bill).toMatchObject({
    bomFormat: 'CycloneDX',
    metadata: { component: { name: 'postroom', version: '1.2.3' } },
  });
  const deployed = new Set(licences().deployed.map(({ name, version }) => `${name}@${version}`));
  expect(bill.components.map((component) => component['bom-ref']).sort()).toEqual([...deployed].sort());
  for (const { purl, version, hashes } of bill.components) {
    expect(purl).toContain(version);
    expect(hashes[0].alg).toBe('SHA-512');
  }
  const known = new Set(bill.components.map((component) => component['bom-ref']));
  for (const { dependsOn } of bill.dependencies) for (const ref of dependsOn) expect(known).toContain(ref);
}, 60_000);
