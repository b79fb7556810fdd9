import { parseConfig } from '@postroom/settings';
import { expect, test } from 'vitest';
import { portsFrom } from '../src/options.ts';
import { appEnvironment, checkAppSettings } from '../src/settings.ts';

const PARTS = {
  databaseUrl: 'postgresql://postgres@127.0.0.1:3405/postroom',
  temporalAddress: '127.0.0.1:3401',
  temporalUiUrl: undefined,
};
const POSTROOM_SECRET_KEY = Buffer.alloc(32, 1).toString('base64');
const environmentOf = (env: NodeJS.ProcessEnv) =>
  appEnvironment(PARTS, portsFrom(3400), '/tmp/none', { POSTROOM_SECRET_KEY, ...env });

test('`npm start` differs from production only in loopback addresses, GraphiQL, its own mail server and a quick end', () => {
  const started = parseConfig(environmentOf({}), 'gateway');
  const { NODE_ENV: _, ...same } = environmentOf({ SYSTEM_MAIL_FROM: 'Postroom <p@example.com>' });
  const production = parseConfig({ ...same, NODE_ENV: 'production' }, 'gateway');
  const different = Object.keys(production).filter(
    (name) =>
      JSON.stringify(started[name as keyof typeof started]) !==
      JSON.stringify(production[name as keyof typeof production]),
  );
  expect(different.sort()).toEqual([
    'DRAIN_SECONDS',
    'GRAPHQL_EXPLORER',
    'NODE_ENV',
    'SYSTEM_MAIL_FROM',
    'nameServerScope',
    'providerScope',
    'webhookScope',
  ]);
  expect(started).toMatchObject({ webhookScope: 'loopback', providerScope: 'loopback', nameServerScope: 'loopback' });
});

test('in production, `npm start` makes up neither a public URL nor a relay', () => {
  const env = environmentOf({ NODE_ENV: 'production' });
  expect(() => checkAppSettings(env, ['gateway'])).toThrow(/PUBLIC_URL: is required[\s\S]*SMTP_URL: is required/);
});
