import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { deployedPackages, licences, unacceptable } from './licences.mjs';

test('every package of a deployment has an accepted licence', () => {
  const { deployed } = licences();
  expect(deployed.length).toBeGreaterThan(500);
  expect(unacceptable(deployed)).toEqual([]);
});

test('the page of licences is current', () => {
  const { path, text } = licences();
  const words = (page) => page.split(/(?<=[,|\n])/);
  expect(words(readFileSync(path, 'utf8')), 'npm run generate writes it').toEqual(words(text));
});

test('packages of the production install and of the dashboard are checked, those of the tests are not', () => {
  const lock = {
    packages: {
      'apps/dashboard': { devDependencies: { chart: '1.0.0', vitest: '1.0.0' } },
      'node_modules/chart': { dev: true, license: 'MIT', dependencies: { axis: '1.0.0' } },
      'node_modules/axis': { dev: true, license: 'GPL-3.0-only' },
      'node_modules/vitest': { dev: true, license: 'AGPL-3.0-only' },
      'node_modules/server': { license: 'SSPL-1.0' },
      'node_modules/server/node_modules/nested': {},
    },
  };
  expect(unacceptable(deployedPackages(lock)).sort()).toEqual([
    'axis (GPL-3.0-only)',
    'nested (none stated)',
    'server (SSPL-1.0)',
  ]);
});
