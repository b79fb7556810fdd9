import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporalSettings } from '../src/temporal-settings.ts';

const DEFAULTS = { TEMPORAL_ADDRESS: '127.0.0.1:7233', TEMPORAL_NAMESPACE: 'default' };
const PROFILES = `
[profile.default]
address = "cloud.example.com:7233"
api_key = "secret"
[profile.prod]
address = "prod.example.com:7233"
namespace = "mail"
`;

/** A home directory whose owner uses Temporal's command line elsewhere. */
function homeWithProfiles(): { home: string; file: string } {
  const home = mkdtempSync(join(tmpdir(), 'postroom-home-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const folder = join(home, '.config/temporalio');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'temporal.toml');
  writeFileSync(file, PROFILES);
  return { home, file };
}

test("the profiles of the user's own Temporal command line are not read unless a variable asks for them", () => {
  const { home, file } = homeWithProfiles();
  const inHome = { HOME: home, XDG_CONFIG_HOME: join(home, '.config') };
  expect(temporalSettings(DEFAULTS, inHome)).toEqual({
    connection: { address: '127.0.0.1:7233' },
    namespace: 'default',
  });
  const named = temporalSettings(DEFAULTS, { TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'prod' });
  expect(named).toMatchObject({ connection: { address: 'prod.example.com:7233' }, namespace: 'mail' });
  expect(temporalSettings(DEFAULTS, { TEMPORAL_CONFIG_FILE: file })).toMatchObject({
    connection: { address: 'cloud.example.com:7233', apiKey: 'secret' },
  });
  expect(() => temporalSettings(DEFAULTS, { TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'dev' })).toThrow('dev');
});

test("a home directory that can't be read, as in a service with ProtectHome, does not matter", () => {
  const { file } = homeWithProfiles();
  const unreadable = { HOME: file, XDG_CONFIG_HOME: file };
  expect(temporalSettings(DEFAULTS, unreadable).connection).toEqual({ address: '127.0.0.1:7233' });
});
