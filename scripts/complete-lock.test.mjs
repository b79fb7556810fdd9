import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { missingBuilds, systemOf } from './complete-lock.mjs';

const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));

test('the lock lists the builds for every system, so that npm ci accepts it (npm run complete-lock adds them)', () => {
  expect(missingBuilds(lock.packages)).toEqual([]);
});

test('the lock names no registry, so that it works with any', () => {
  const addresses = Object.values(lock.packages).flatMap(({ resolved }) => resolved ?? []);
  expect(addresses.filter((address) => address.includes('://'))).toEqual([]);
});

test.each([
  ['@oxfmt/binding-linux-arm64-musl', { os: 'linux', cpu: 'arm64', libc: 'musl' }],
  ['@swc/core-linux-arm-gnueabihf', { os: 'linux', cpu: 'arm', libc: 'glibc' }],
  ['@turbo/windows-64', { os: 'win32', cpu: 'x64', libc: undefined }],
])('the name %s names the system that it is for', (name, system) => {
  expect(systemOf(name)).toEqual(system);
});
