import { randomBytes } from 'node:crypto';
import {
  assertValid,
  checkLimit,
  config,
  databaseTime,
  db,
  displayNameProblems,
  type FieldProblem,
  hostProblem,
  ifReadable,
  invalid,
  isId,
  newId,
  newUrlProblem,
  normalizeDomain,
  notFound,
  type Prisma,
  normalizeText,
} from '@postroom/platform';
import { withAdvice } from './mailboxes/status.ts';
import { providerCredentials, UNREADABLE } from './credentials.ts';
import { credentialsOf } from './transports.ts';
import { SES_PATH } from './ses/notifications.ts';
import { readSesAccount, type SesCredentials, type SesSettings } from './ses/ses.ts';
import { type SmtpCredentials, type SmtpSettings, testSmtp } from './smtp.ts';

export type MailProvider = Prisma.MailProviderModel;

type Optional<T> = T | null | undefined;

interface SmtpInput {
  host?: Optional<string>;
  port?: Optional<number>;
  tls?: Optional<SmtpSettings['tls']>;
  username?: Optional<string>;
  password?: Optional<string>;
  connections?: Optional<number>;
  messagesPerConnection?: Optional<number>;
  ratePerSecond?: Optional<number>;
}

interface SesInput {
  region?: Optional<string>;
  accessKeyId?: Optional<string>;
  secretAccessKey?: Optional<string>;
  configurationSet?: Optional<string>;
  topicArn?: Optional<string>;
  endpoint?: Optional<string>;
}

export interface ProviderInput {
  name?: Optional<string>;
  /** The sending domain that uses this provider; all of the project's if omitted. */
  domain?: Optional<string>;
  position?: Optional<number>;
  smtp?: Optional<SmtpInput>;
  ses?: Optional<SesInput>;
}

const MAX_PROVIDERS = 50;
const MAX_PROVIDER_NAME_LENGTH = 100;

/**
 * Creates a provider from exactly one of `smtp` and `ses`. It is used from the next message on.
 * @throws DomainError `validation_error` naming each bad field.
 */
export async function createProvider(projectId: string, input: ProviderInput): Promise<string> {
  const kind = input.ses == null ? 'smtp' : 'ses';
  if (input.smtp == null && input.ses == null)
    throw invalid({ field: 'smtp', message: 'is required, unless ses is given' });
  if (input.smtp != null && input.ses != null)
    throw invalid({ field: 'smtp', message: 'must not be combined with ses' });
  const read = readKind(kind, input, undefined);
  assertValid([
    ...(input.name == null ? [{ field: 'name', message: 'is required' }] : []),
    ...(await commonProblems(projectId, input)),
    ...read.problems,
  ]);
  const id = newId('prv');
  const data: Prisma.MailProviderUncheckedCreateInput = {
    id,
    projectId,
    kind,
    name: normalizeText(input.name ?? ''),
    domain: input.domain == null ? '' : normalizeDomain(input.domain),
    position: input.position ?? 1,
    settings: read.settings,
    credentials:
      read.credentials === undefined ? null : providerCredentials.encrypt(JSON.stringify(read.credentials), id),
    token: randomBytes(24).toString('base64url'),
  };
  await db.$transaction(async (tx) => {
    await tx.mailProvider.create({ data });
    const limit = { of: projectId, rows: 'mail providers', max: MAX_PROVIDERS };
    await checkLimit(tx, limit, () => tx.mailProvider.count({ where: { projectId } }));
  });
  return id;
}

/**
 * Updates the given fields. Omitted secrets are kept; the kind can't change.
 * @throws DomainError `not_found`, `validation_error` naming each bad field.
 */
export async function updateProvider(projectId: string, id: string, input: ProviderInput): Promise<void> {
  // The settings are one column: those that were changed since they were read are merged again.
  while (!(await updateRevision(await getProvider(projectId, id), input)));
}

/** @returns whether the provider was still the one that is given. */
async function updateRevision(provider: MailProvider, input: ProviderInput): Promise<boolean> {
  const { id, projectId, kind, revision } = provider;
  const other = kind === 'smtp' ? 'ses' : 'smtp';
  const read = readKind(kind, input, provider);
  assertValid([
    ...(input[other] == null ? [] : [{ field: other, message: `must be omitted: this provider is of kind ${kind}` }]),
    ...(await commonProblems(projectId, input)),
    ...read.problems,
  ]);
  const data: Prisma.MailProviderUpdateManyMutationInput = {
    ...(input.name == null ? {} : { name: normalizeText(input.name) }),
    ...(input.domain == null ? {} : { domain: input.domain === '' ? '' : normalizeDomain(input.domain) }),
    ...(input.position == null ? {} : { position: input.position }),
    settings: read.settings,
    credentials:
      read.credentials === undefined ? null : providerCredentials.encrypt(JSON.stringify(read.credentials), id),
    status: 'untested',
    statusReason: null,
    revision: { increment: 1 },
  };
  const { count } = await db.$transaction((tx) => tx.mailProvider.updateMany({ where: { id, revision }, data }));
  return count > 0;
}

interface ParsedInput {
  settings: Prisma.InputJsonObject;
  credentials: SmtpCredentials | SesCredentials | undefined;
  problems: FieldProblem[];
}

/** Merges the input into the existing settings and validates the result. */
function readKind(kind: MailProvider['kind'], input: ProviderInput, existing: MailProvider | undefined): ParsedInput {
  const settings = existing?.settings ?? {};
  const credentials = existing === undefined ? undefined : ifReadable(() => credentialsOf(existing));
  if (kind === 'smtp') {
    const smtp = input.smtp ?? {};
    const read = readSmtp(smtp, settings as Partial<SmtpSettings>, credentials as SmtpCredentials | undefined);
    // Without them, mail would be sent without authentication. A form shows an unknown username as a blank one.
    const isLost = existing?.credentials != null && credentials === undefined && !smtp.username;
    return isLost ? { ...read, problems: [...read.problems, { field: 'smtp.username', message: UNREADABLE }] } : read;
  }
  return readSes(input.ses ?? {}, settings as Partial<SesSettings>, credentials as SesCredentials | undefined);
}

const DEFAULT_PORTS = { implicit: 465, starttls: 587, optional: 25 } as const;

function readSmtp(input: SmtpInput, existing: Partial<SmtpSettings>, known: SmtpCredentials | undefined): ParsedInput {
  const tls = input.tls ?? existing.tls ?? 'starttls';
  // Null removes a limit; undefined keeps it.
  const limit = (field: 'connections' | 'messagesPerConnection' | 'ratePerSecond') =>
    input[field] === undefined ? existing[field] : (input[field] ?? undefined);
  const host = input.host?.trim() ?? existing.host ?? '';
  const settings = {
    host,
    tls,
    port: input.port ?? existing.port ?? DEFAULT_PORTS[tls],
    connections: limit('connections'),
    messagesPerConnection: limit('messagesPerConnection'),
    ratePerSecond: limit('ratePerSecond'),
  };
  const user = input.username ?? known?.user ?? '';
  const password = input.password ?? known?.password ?? '';
  const within = (field: keyof typeof settings, most: number) => {
    const value = settings[field];
    return typeof value === 'number' && !(value >= 1 && value <= most)
      ? [{ field: `smtp.${field}`, message: `must be between 1 and ${most}` }]
      : [];
  };
  const problem = hostProblem(host, config.providerScope);
  return {
    settings: withoutUndefined(settings),
    credentials: user === '' ? undefined : { user, password },
    problems: [
      ...(problem === undefined ? [] : [{ field: 'smtp.host', message: problem }]),
      ...within('port', 65_535),
      ...within('connections', 100),
      ...within('messagesPerConnection', 10_000),
      ...within('ratePerSecond', 10_000),
      ...(user !== '' && password === '' ? [{ field: 'smtp.password', message: 'is required with a username' }] : []),
      ...(user !== '' && tls === 'optional'
        ? [{ field: 'smtp.tls', message: 'must be implicit or starttls, since a password is sent' }]
        : []),
    ],
  };
}

function readSes(input: SesInput, existing: Partial<SesSettings>, known: SesCredentials | undefined): ParsedInput {
  const pick = (field: 'region' | 'configurationSet' | 'topicArn' | 'endpoint') => {
    const value = input[field]?.trim() ?? existing[field];
    return value === '' ? undefined : value;
  };
  const settings = {
    region: pick('region') ?? '',
    configurationSet: pick('configurationSet'),
    topicArn: pick('topicArn'),
    endpoint: pick('endpoint'),
  };
  const accessKeyId = input.accessKeyId ?? known?.accessKeyId ?? '';
  const secretAccessKey = input.secretAccessKey ?? known?.secretAccessKey ?? '';
  const matching = (field: keyof typeof settings, pattern: RegExp, message: string) =>
    settings[field] === undefined || pattern.test(settings[field]) ? [] : [{ field: `ses.${field}`, message }];
  return {
    settings: withoutUndefined(settings),
    credentials: { accessKeyId, secretAccessKey },
    problems: [
      ...matching('region', /^[a-z]{2}(-[a-z]+)+-\d$/, 'must be a region of AWS, such as eu-west-1'),
      ...matching('configurationSet', /^[A-Za-z0-9_-]{1,64}$/, 'must be the name of a configuration set'),
      ...matching(
        'topicArn',
        /^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}$/,
        'must be the ARN of a topic of SNS',
      ),
      ...endpointProblems(settings.endpoint),
      ...(accessKeyId === '' ? [{ field: 'ses.accessKeyId', message: 'is required' }] : []),
      ...(secretAccessKey === '' ? [{ field: 'ses.secretAccessKey', message: 'is required' }] : []),
    ],
  };
}

function endpointProblems(endpoint: string | undefined): FieldProblem[] {
  if (endpoint === undefined) return [];
  const problem = newUrlProblem(endpoint, config.providerScope);
  return problem === undefined ? [] : [{ field: 'ses.endpoint', message: problem }];
}

async function commonProblems(projectId: string, { name, domain, position }: ProviderInput): Promise<FieldProblem[]> {
  const isSendingDomain =
    domain == null ||
    domain === '' ||
    (await db.domain.findFirst({ where: { projectId, domain: normalizeDomain(domain) }, select: { id: true } })) !==
      null;
  return [
    ...displayNameProblems({ name }, MAX_PROVIDER_NAME_LENGTH),
    ...(isSendingDomain ? [] : [{ field: 'domain', message: 'is not a sending domain of this project' }]),
    ...(position != null && !(position >= 1 && position <= 100)
      ? [{ field: 'position', message: 'must be between 1 and 100' }]
      : []),
  ];
}

const withoutUndefined = (settings: Record<string, string | number | undefined>): Prisma.InputJsonObject =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));

/** A provider of the project. @throws DomainError `not_found`. */
export async function getProvider(projectId: string, id: string): Promise<MailProvider> {
  const provider = isId('prv', id) ? await db.mailProvider.findFirst({ where: { id, projectId } }) : null;
  if (provider === null) throw notFound('mail provider');
  return provider;
}

/** The project's providers in the order they are tried; those of a domain come last. */
export function listProviders(projectId: string): Promise<MailProvider[]> {
  return db.mailProvider.findMany({
    where: { projectId },
    orderBy: [{ domain: 'asc' }, { position: 'asc' }, { id: 'asc' }],
  });
}

/** Deletes a provider with its credentials. Messages in flight are still sent. @throws DomainError `not_found`. */
export async function deleteProvider(projectId: string, id: string): Promise<void> {
  const { count } = isId('prv', id) ? await db.mailProvider.deleteMany({ where: { id, projectId } }) : { count: 0 };
  if (count === 0) throw notFound('mail provider');
}

/** Tests the connection without sending and records the result. @throws DomainError `not_found`. */
export async function testProvider(projectId: string, id: string): Promise<void> {
  const provider = await getProvider(projectId, id);
  const trouble = await connectionProblem(provider);
  await db.mailProvider.updateMany({
    where: { id, projectId },
    data: {
      status: trouble === undefined ? 'working' : 'failing',
      statusReason: trouble ?? null,
      checkedAt: databaseTime(),
    },
  });
}

async function connectionProblem(provider: MailProvider): Promise<string | undefined> {
  const credentials = ifReadable(() => credentialsOf(provider));
  if (provider.credentials !== null && credentials === undefined)
    return 'The stored credentials were encrypted with a key that this installation does not have. Enter them again.';
  if (provider.kind === 'smtp') {
    const settings = provider.settings as unknown as SmtpSettings;
    const outcome = await testSmtp(settings, credentials as SmtpCredentials | undefined);
    return outcome === undefined ? undefined : withAdvice(outcome.answer);
  }
  try {
    const account = await readSesAccount(provider.settings as unknown as SesSettings, credentials as SesCredentials);
    return account.sendingEnabled ? undefined : 'Amazon SES has paused sending for this account.';
  } catch (error) {
    const { name, message } = error as Error;
    return `${name}: ${message}`.slice(0, 500);
  }
}

/** The username or access key id of a provider; null without authentication, or if it can't be decrypted. Neither is a secret. */
export function signInName(provider: Pick<MailProvider, 'id' | 'credentials'>): string | null {
  const known = ifReadable(() => credentialsOf(provider));
  if (known === undefined) return null;
  return 'user' in known ? known.user : known.accessKeyId;
}

/** The URL for SES event notifications through SNS; null for other kinds. */
export const notificationUrl = ({ kind, token }: Pick<MailProvider, 'kind' | 'token'>) =>
  kind === 'ses' ? `${config.PUBLIC_URL}${SES_PATH}${token}` : null;
