import type { z } from 'zod';
import { missingSettings, type Program, setCurrentProgram } from './programs.ts';
import { readSecretKeys, type SecretKey } from './secret-keys.ts';
import { readSettingFiles, type SettingProblem } from './setting-files.ts';
import { environment, isRelay, type SettingName, type Settings } from './settings.ts';

export { isProgram, type Program, PROGRAM_NAMES } from './programs.ts';
export { readSettingFiles } from './setting-files.ts';

/**
 * Which addresses a tenant-chosen host may resolve to: the public internet; also loopback, for development; or also
 * private networks, if the operator allows it. Everything else is always blocked.
 */
export type AddressScope = 'public' | 'loopback' | 'private';

export type Config = ReturnType<typeof parseConfig>;

/**
 * Parses the environment, of one program or of any.
 * @throws Error listing every invalid value, contradiction, and setting that the program needs.
 */
export function parseConfig(env: NodeJS.ProcessEnv, program?: Program) {
  const { env: given, problems } = readSettingFiles(env);
  const parsed = environment.safeParse(given, { error: problemOf });
  for (const { path, message } of parsed.error?.issues ?? []) {
    // Problems of entries of a list are reported once, for the setting.
    const [setting] = path as [string];
    if (!problems.some((each) => each.setting === setting)) problems.push({ setting, problem: message });
  }
  // What is set decides what else must be, so invalid values are left out, and their defaults used.
  const settings = parsed.data ?? environment.parse(withoutInvalid(given, problems));
  problems.push(...contradictions(settings, new Set(problems.map(({ setting }) => setting))));
  if (program !== undefined) problems.push(...missingSettings(program, settings, { ...given, ...namesOf(problems) }));
  const secretKeys = keysOf(settings, problems);
  if (problems.length > 0) throw new Error(describe(problems, program));
  return derive(settings, secretKeys);
}

/**
 * Checks the settings of this program, before anything else of it is loaded: exits with status 1 and a message that lists every
 * problem.
 */
export function checkSettings(program: Program): Config {
  setCurrentProgram(program);
  return orExit(() => parseConfig(process.env, program));
}

/** The settings of this process, whichever program it is; exits with a message that names the invalid ones. */
export const readConfig = (): Config => orExit(() => parseConfig(process.env));

function orExit(parse: () => Config): Config {
  try {
    return parse();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}

const ANY_OF = new Intl.ListFormat('en', { type: 'disjunction' });
const ALL_OF = new Intl.ListFormat('en', { type: 'conjunction' });

/** What is wrong with a value, for settings without a message for it. */
function problemOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') return issue.expected === 'int' ? 'must be a whole number' : 'must be a number';
  if (issue.code === 'invalid_value') return `must be ${ANY_OF.format(issue.values.map(String))}`;
  if (issue.code === 'invalid_format') return FORMATS[issue.format];
  if (issue.code !== 'too_small' && issue.code !== 'too_big') return undefined;
  const bound = issue.code === 'too_small' ? `at least ${issue.minimum}` : `at most ${issue.maximum}`;
  return issue.origin === 'string' ? `must have ${bound} characters` : `must be ${bound}`;
}

const FORMATS: Record<string, string> = {
  url: 'must be a URL',
  email: 'must be an email address',
  hostname: 'must be a hostname',
};

/** The names of settings that have a problem, also in their `_FILE`. */
const namesOf = (problems: readonly SettingProblem[]) =>
  Object.fromEntries(problems.map(({ setting }) => [setting.replace(/_FILE$/, ''), true]));

function withoutInvalid(given: Record<string, string>, problems: readonly SettingProblem[]): Record<string, string> {
  const invalid = new Set(problems.map(({ setting }) => setting));
  return Object.fromEntries(Object.entries(given).filter(([name]) => !invalid.has(name)));
}

function describe(problems: readonly SettingProblem[], program: Program | undefined): string {
  const title = program === undefined ? 'Invalid settings in the environment:' : `Settings of the ${program}:`;
  const lines = problems.map(({ setting, problem }) => `  ${setting}: ${problem}`);
  return [title, ...lines, 'docs/reference/settings.md explains every setting.'].join('\n');
}

/** Settings that only make sense together. */
const TOGETHER: readonly (readonly SettingName[])[] = [
  ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'],
  ['ARCHIVE_S3_ACCESS_KEY_ID', 'ARCHIVE_S3_SECRET_ACCESS_KEY'],
  ['SUBMISSION_TLS_CERT', 'SUBMISSION_TLS_KEY'],
  ['BOUNCE_TLS_CERT', 'BOUNCE_TLS_KEY'],
];

/** `npm start` generates the one that is missing. */
const OWNER = ['POSTROOM_OWNER_EMAIL', 'POSTROOM_OWNER_PASSWORD'] as const;

function contradictions(settings: Settings, invalid: ReadonlySet<string>): SettingProblem[] {
  const problems: SettingProblem[] = [];
  for (const names of settings.NODE_ENV === 'production' ? [...TOGETHER, OWNER] : TOGETHER) {
    const missing = names.filter((name) => settings[name] === undefined && !invalid.has(name));
    if (missing.length > 0 && missing.length < names.length)
      problems.push({
        setting: names.join(', '),
        problem: `must be set together; ${ALL_OF.format(missing)} ${missing.length > 1 ? 'are' : 'is'} missing`,
      });
  }
  for (const name of ['ARCHIVE_URL', 'EVENT_EXPORT_URL'] as const)
    if (settings[name]?.startsWith('s3:') === true && settings.ARCHIVE_S3_ACCESS_KEY_ID === undefined)
      problems.push({
        setting: name,
        problem:
          'requires ARCHIVE_S3_ACCESS_KEY_ID and ARCHIVE_S3_SECRET_ACCESS_KEY of a key that may write to the bucket',
      });
  const { CELL: cell, CELL_GATEWAYS: gateways } = settings;
  if (gateways !== undefined && (cell === undefined || !gateways.has(cell)) && !invalid.has('CELL'))
    problems.push({
      setting: 'CELL',
      problem: `must be one of the names in CELL_GATEWAYS: ${ANY_OF.format(gateways.keys())}`,
    });
  if (settings.POSTROOM_SECRET_KEY !== undefined && settings.POSTROOM_KEY_FILE !== undefined)
    problems.push({
      setting: 'POSTROOM_KEY_FILE',
      problem: 'is set together with POSTROOM_SECRET_KEY; set one of them',
    });
  if (settings.GRAPHQL_TRUSTED_ONLY && settings.GRAPHQL_TRUSTED_DOCUMENTS === undefined)
    problems.push({
      setting: 'GRAPHQL_TRUSTED_ONLY',
      problem: 'requires GRAPHQL_TRUSTED_DOCUMENTS, the file of trusted documents',
    });
  if (settings.SMTP_PROXY_PROTOCOL && settings.TRUSTED_PROXIES === undefined)
    problems.push({
      setting: 'SMTP_PROXY_PROTOCOL',
      problem: 'requires TRUSTED_PROXIES, the addresses of the proxies',
    });
  if (settings.WORKER_DEPLOYMENT !== undefined && settings.BUILD_ID === undefined)
    problems.push({ setting: 'WORKER_DEPLOYMENT', problem: 'requires BUILD_ID, the build that this worker runs' });
  return problems;
}

function keysOf(settings: Settings, problems: SettingProblem[]): SecretKey[] {
  try {
    return readSecretKeys(settings);
  } catch (error) {
    const [, setting = '', problem = ''] = /^(\w+): (.*)$/s.exec((error as Error).message) ?? [];
    problems.push({ setting, problem });
    return [];
  }
}

/** How many connections the pools of a process may open; with the one for LISTEN, DATABASE_POOL in all. */
function poolSizes(total: number) {
  const ledger = Math.min(6, Math.max(2, Math.floor(total / 4)));
  return { main: total - ledger - 1, ledger };
}

function derive(settings: Settings, secretKeys: SecretKey[]) {
  const databasePools = poolSizes(settings.DATABASE_POOL);
  const development = settings.NODE_ENV !== 'production';
  return {
    ...settings,
    databasePools,
    /** For LISTEN and migrations, which need their own session. */
    directDatabaseUrl: settings.DATABASE_LISTEN_URL ?? settings.DATABASE_URL,
    /** Whether DATABASE_URL leads to a pooler in transaction mode. */
    behindPooler: settings.DATABASE_LISTEN_URL !== undefined && settings.DATABASE_LISTEN_URL !== settings.DATABASE_URL,
    SMTP_URL: isRelay(settings.SMTP_URL) ? settings.SMTP_URL : undefined,
    RATE_LIMIT_PROJECT_PER_SECOND: settings.RATE_LIMIT_PROJECT_PER_SECOND ?? 3 * settings.RATE_LIMIT_PER_SECOND,
    REQUESTS_PER_PROJECT: settings.REQUESTS_PER_PROJECT ?? Math.max(1, Math.floor(databasePools.main * 0.8)),
    ADMIN_HOST: settings.ADMIN_HOST ?? settings.HOST,
    DRAIN_SECONDS: settings.DRAIN_SECONDS ?? (development ? 0 : 5),
    PUBLIC_URL: (settings.PUBLIC_URL ?? `http://${settings.HOST}:${settings.GATEWAY_PORT}`).replace(/\/$/, ''),
    /** Where webhooks may go. */
    webhookScope: addressScope(settings.WEBHOOKS_ALLOW_PRIVATE, development),
    /** Where mail servers, and other servers that projects name for their mail, may be. */
    providerScope: addressScope(settings.PROVIDERS_ALLOW_PRIVATE, development),
    /** Where the name servers of sending domains may be. */
    nameServerScope: addressScope(undefined, development),
    GRAPHQL_EXPLORER: settings.GRAPHQL_EXPLORER ?? development,
    oidc: openIdConnect(settings),
    secretKeys,
  };
}

/** Loopback is allowed only in development, unless the operator overrides it. */
function addressScope(allowsPrivate: boolean | undefined, development: boolean): AddressScope {
  if (allowsPrivate === true) return 'private';
  return allowsPrivate === undefined && development ? 'loopback' : 'public';
}

function openIdConnect({
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: clientId,
  OIDC_CLIENT_SECRET: clientSecret,
  OIDC_NAME: name,
}: Settings) {
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  return { issuer: issuer.replace(/\/$/, ''), clientId, clientSecret, name };
}
