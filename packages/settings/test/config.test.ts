import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseConfig, PROGRAM_NAMES, readSettingFiles } from '../src/parse-config.ts';
import { REQUIREMENTS } from '../src/programs.ts';
import { SECRETS, type Settings } from '../src/settings.ts';

test.each(['DATABASE_URL', 'GATEWAY_PORT', 'LOG_LEVEL'])(
  'a bad value in the environment is named, all of them at once: %s',
  (name) => {
    expect(() => parseConfig({ GATEWAY_PORT: 'abc', DATABASE_URL: 'mysql://x/y', LOG_LEVEL: 'loud' })).toThrow(
      `${name}: `,
    );
  },
);

test.each([
  ['WORKER_ROLES', 'mail, post', 'must be a list of mail, campaigns, webhooks, maintenance'],
  ['POSTROOM_KEY_FILE', '/nowhere', "can't be read: ENOENT"],
  ['DATABASE_URL', 'postgresql://u:p/w@host/db', 'percent-encode characters such as /'],
  ['DATABASE_POOL', '3', 'must be at least 5'],
  ['DATABASE_POOL', 'many', 'must be a number'],
  ['DATABASE_POOL', '7.5', 'must be a whole number'],
  ['METRICS_TOKEN', 'short', 'must have at least 16 characters'],
  ['HOLD_SENDING', 'on', 'must be 0, 1, false, or true'],
  ['MAIL_FROM_MX', 'no host', 'must be a hostname'],
  ['SMTP_URL', 'smtp:/relay', 'must look like smtp://host:port'],
  ['SMTP_URL', 'smtp://relay:99999', 'must look like smtp://host:port'],
  ['SMTP_URL', 'smtp://relay?tls=always', 'parameter "tls" must be'],
  ['SMTP_URL', 'smtp://relay?dns=off', 'Unknown mail server parameter "dns"'],
  ['SYSTEM_MAIL_FROM', 'Postroom', 'must be an email address'],
  ['SYSTEM_MAIL_FROM', 'Postroom <postroom@example.com', 'must be an email address'],
  ['SYSTEM_MAIL_FROM', 'Example, Inc. <postroom@example.com>', 'quote a name that has commas'],
  ['TEMPORAL_ADDRESS', 'http://temporal:7233', 'must be host:port'],
  ['PUBLIC_URL', 'https://example.com/mail', 'without a path'],
  ['PUBLIC_URL', 'https://example.com?x', 'without a path'],
  ['ARCHIVE_URL', 's3://archive', 'requires ARCHIVE_S3_ACCESS_KEY_ID'],
  ['EVENT_EXPORT_URL', 's3://events', 'requires ARCHIVE_S3_ACCESS_KEY_ID'],
])('%s may not be %s', (name, value, problem) => {
  const parse = () => parseConfig({ [name]: value });
  expect(parse).toThrow(`  ${name}: `);
  expect(parse).toThrow(problem);
});

test.each(['Postroom <postroom@example.com>', 'postroom@localhost', '"Example, Inc." <postroom@example.com>'])(
  'system mail may be from %s',
  (from) => {
    expect(parseConfig({ SYSTEM_MAIL_FROM: from }).SYSTEM_MAIL_FROM).toBe(from);
  },
);

test('the public URL is what browsers send as their origin', () => {
  for (const url of ['https://Mail.Example.com', 'https://mail.example.com/', 'https://mail.example.com:443'])
    expect(parseConfig({ PUBLIC_URL: url }).PUBLIC_URL).toBe('https://mail.example.com');
});

test('an invalid value is not also reported as missing', () => {
  const owner = { NODE_ENV: 'production', POSTROOM_OWNER_EMAIL: 'ada@example.com', POSTROOM_OWNER_PASSWORD: 'short' };
  expect(() => parseConfig(owner)).toThrow('POSTROOM_OWNER_PASSWORD: must have at least 10 characters');
  expect(() => parseConfig(owner)).not.toThrow('missing');
});

test.each([undefined, 'us'])('a cell that CELL_GATEWAYS does not name is refused: %s', (CELL) => {
  const gateways = { CELL_GATEWAYS: 'home=http://10.0.0.1:3400, eu=http://10.0.1.1:3400' };
  expect(() => parseConfig({ ...gateways, CELL })).toThrow(
    /CELL: must be one of the names in CELL_GATEWAYS: home or eu/,
  );
  expect(() => parseConfig({ ...gateways, CELL: 'eu' })).not.toThrow();
});

test('an empty variable counts as not given', () => {
  expect(parseConfig({ GATEWAY_PORT: '', PUBLIC_URL: '' }).PUBLIC_URL).toBe('http://127.0.0.1:3400');
});

test('the explorer is closed in production and open in development', () => {
  expect(parseConfig({ NODE_ENV: 'production' })).toMatchObject({ GRAPHQL_EXPLORER: false });
  expect(parseConfig({ NODE_ENV: 'development' })).toMatchObject({ GRAPHQL_EXPLORER: true });
});

test.each([
  ['production', undefined, 'public'],
  ['development', undefined, 'loopback'],
  ['development', '0', 'public'],
  ['development', '1', 'private'],
  ['production', '1', 'private'],
])('in %s, with ALLOW_PRIVATE %s, tenants may have us connect to: %s', (NODE_ENV, allowed, scope) => {
  const settings = { NODE_ENV, WEBHOOKS_ALLOW_PRIVATE: allowed, PROVIDERS_ALLOW_PRIVATE: allowed };
  expect(parseConfig(settings)).toMatchObject({ webhookScope: scope, providerScope: scope });
});

test('only trusted documents, and none named: that is refused, and does not mean all', () => {
  expect(() => parseConfig({ GRAPHQL_TRUSTED_ONLY: '1' })).toThrow(
    /GRAPHQL_TRUSTED_ONLY: requires GRAPHQL_TRUSTED_DOCUMENTS/,
  );
});

test('an archive without a bucket, or in a folder of another host, is refused', () => {
  for (const url of ['s3://', 's3://user:pw@bucket/x', 's3://bucket?x', 'file:///', 'file://host/folder', '/folder'])
    expect(() => parseConfig({ ARCHIVE_URL: url, EVENT_EXPORT_URL: url }), url).toThrow(
      /ARCHIVE_URL: must be s3:[^]*EVENT_EXPORT_URL: must be s3:/,
    );
  const access = { ARCHIVE_S3_ACCESS_KEY_ID: 'id', ARCHIVE_S3_SECRET_ACCESS_KEY: 'secret' };
  for (const url of ['s3://bucket', 's3://my-bucket.x/a/b', 'file:///var/lib/postroom'])
    expect(parseConfig({ ...access, ARCHIVE_URL: url }).ARCHIVE_URL).toBe(url);
});

test('a secret key of the wrong length is refused', () => {
  expect(() => parseConfig({ POSTROOM_SECRET_KEY: Buffer.alloc(16).toString('base64') })).toThrow(
    /POSTROOM_SECRET_KEY: must be 32 bytes/,
  );
});

test('a key file holds the current key, and previous keys on its other lines', () => {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-config-'));
  const file = join(folder, 'secret.key');
  const [fresh, old] = [Buffer.alloc(32, 2), Buffer.alloc(32, 1)];
  writeFileSync(file, `${fresh.toString('base64')}\n${old.toString('base64')}\n`);
  const { secretKeys } = parseConfig({ POSTROOM_KEY_FILE: file });
  expect(secretKeys.map(({ bytes }) => bytes)).toEqual([fresh, old]);
  writeFileSync(file, `${fresh.toString('base64')}\nno key\n`);
  expect(() => parseConfig({ POSTROOM_KEY_FILE: file })).toThrow(/POSTROOM_KEY_FILE: must be keys of 32 bytes/);
  rmSync(folder, { recursive: true });
});

test('DNS_SERVERS are addresses, with a port where it is not 53', () => {
  expect(parseConfig({ DNS_SERVERS: '127.0.0.1:5353, ::1, [2001:db8::53]:54' }).DNS_SERVERS).toEqual([
    { address: '127.0.0.1', port: 5353 },
    { address: '::1', port: 53 },
    { address: '2001:db8::53', port: 54 },
  ]);
  expect(() => parseConfig({ DNS_SERVERS: 'dns.example.com' })).toThrow(
    /DNS_SERVERS: dns.example.com must be an IP address/,
  );
});

test('a key may make 100 requests a second unless the environment says otherwise', () => {
  expect(parseConfig({}).RATE_LIMIT_PER_SECOND).toBe(100);
  expect(parseConfig({ RATE_LIMIT_PER_SECOND: '5' }).RATE_LIMIT_PER_SECOND).toBe(5);
});

/** What each program needs in production. */
const COMPLETE = {
  DATABASE_URL: 'postgresql://postgres@db/postroom',
  POSTROOM_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
  PUBLIC_URL: 'https://mail.example.com',
  SMTP_URL: 'smtp://relay.example.com',
  SYSTEM_MAIL_FROM: 'Postroom <postroom@example.com>',
  SUBMISSION_TLS_CERT: '/tls/cert.pem',
  SUBMISSION_TLS_KEY: '/tls/key.pem',
  POSTROOM_OWNER_EMAIL: 'ada@example.com',
  POSTROOM_OWNER_PASSWORD: 'correct horse battery',
};

test.each(PROGRAM_NAMES)('the %s refuses to start in production without any one setting it needs', (program) => {
  expect(() => parseConfig(COMPLETE, program)).not.toThrow();
  const needed = REQUIREMENTS[program]
    .filter(
      ({ when }: { when?: { holds: (settings: Settings) => boolean } }) =>
        when?.holds(parseConfig(COMPLETE, program)) !== false,
    )
    .map(({ settings }) => settings[0]);
  for (const name of needed) {
    expect(() => parseConfig({ ...COMPLETE, [name]: undefined }, program)).toThrow(name);
    expect(() => parseConfig({ ...COMPLETE, [name]: '' }, program)).toThrow(name);
  }
});

test('the submission server needs the secret key only to forward mail to other cells', () => {
  const { POSTROOM_SECRET_KEY: _, ...others } = COMPLETE;
  expect(() => parseConfig(others, 'submission')).not.toThrow();
  const cells = { CELL: 'home', CELL_GATEWAYS: 'home=http://10.0.0.1:3400, eu=http://10.0.1.1:3400' };
  expect(() => parseConfig({ ...others, ...cells }, 'submission')).toThrow('POSTROOM_SECRET_KEY');
});

test('invalid, contradictory and missing settings are reported together', () => {
  const parse = () => parseConfig({ GATEWAY_PORT: 'x', OIDC_CLIENT_ID: 'id', SMTP_URL: 'http://relay' }, 'gateway');
  for (const name of ['DATABASE_URL', 'POSTROOM_SECRET_KEY', 'PUBLIC_URL', 'GATEWAY_PORT', 'OIDC_ISSUER', 'SMTP_URL'])
    expect(parse).toThrow(name);
  expect(parse).toThrow(/^Settings of the gateway:/);
});

test('in production, having no relay at all is a decision, not an omission', () => {
  const { SMTP_URL: _, SYSTEM_MAIL_FROM: __, ...others } = COMPLETE;
  expect(() => parseConfig(others, 'worker')).toThrow('SMTP_URL: is required');
  expect(parseConfig({ ...others, SMTP_URL: 'none' }, 'worker').SMTP_URL).toBeUndefined();
});

test('outside production only the database and the key are needed, to run', () => {
  const { DATABASE_URL, POSTROOM_SECRET_KEY } = COMPLETE;
  const env = { NODE_ENV: 'development', DATABASE_URL, POSTROOM_SECRET_KEY };
  for (const program of PROGRAM_NAMES.filter((name) => name !== 'bootstrap'))
    expect(() => parseConfig(env, program)).not.toThrow();
});

test.each(SECRETS)('%s can be a file, whose newline at the end is ignored', (name) => {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-config-'));
  const file = join(folder, 'secret');
  writeFileSync(file, 'first line\nlast line\n');
  expect(readSettingFiles({ [`${name}_FILE`]: file })).toEqual({
    env: { [name]: 'first line\nlast line' },
    problems: [],
  });
  expect(() => parseConfig({ [`${name}_FILE`]: file, [name]: 'value' })).toThrow(
    `${name}_FILE: is set together with ${name}`,
  );
  writeFileSync(file, '\n');
  expect(() => parseConfig({ [`${name}_FILE`]: file })).toThrow(`${name}_FILE: ${file} is empty`);
  rmSync(folder, { recursive: true });
  expect(() => parseConfig({ [`${name}_FILE`]: file })).toThrow(`${name}_FILE: can't be read: ENOENT`);
});

test('a secret whose file cannot be read is one problem, not also a missing setting', () => {
  const { DATABASE_URL: _, ...others } = COMPLETE;
  const parse = () => parseConfig({ ...others, DATABASE_URL_FILE: '/nowhere' }, 'bounces');
  expect(parse).toThrow('DATABASE_URL_FILE');
  expect(parse).not.toThrow('is required');
});
