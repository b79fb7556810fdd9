import { normalizeDomain, sendingSetup } from '@postroom/domains';
import { db, emailKey, logger, pool, type Prisma } from '@postroom/platform';
import { smtpPool, smtpPoolWidth, type Traffic } from './smtp-pools.ts';
import { returnAddress } from '@postroom/bounces';
import { senderOf, signed } from './signing.ts';
import { hostDeferred, type SendOutcome } from '@postroom/smtp';
import { goneOutcome, openMailbox } from './mailboxes/transport.ts';
import { providerCredentials } from './credentials.ts';
import { openSes, type SesCredentials, type SesSettings } from './ses/ses.ts';
import { openSmtp, type SmtpCredentials, type SmtpSettings } from './smtp.ts';
import { isTransportFailure, withTransportHealth } from './transport-health.ts';
import type { OutgoingMessage, Transport } from './transport.ts';

/** Where mail of a sender goes: the ways that may be tried, in their order. */
export interface Route {
  /** Messages that are worth giving to it at once. */
  readonly width: number;
  /** Signs a message and sends it, once. Never rejects for what a server does. */
  send: (message: OutgoingMessage) => Promise<SendOutcome>;
}

/** What a message's row fixes of its way. */
export interface RouteKey {
  projectId: string;
  fromEmail: string;
  traffic: Traffic;
  /** Whether it goes by the mailbox account of its address, and by nothing else. */
  byMailbox: boolean;
}

/** How long a way is taken as it was read, in milliseconds. */
const FRESH_MS = 5_000;
const MAX_ROUTES = 1_000;
/** How long a way that refused our settings is left alone, in milliseconds; one that names no time when it can't be reached, too. */
const REFUSED_REST_MS = 5 * 60_000;
const UNREACHABLE_REST_MS = 5_000;

const routes = new Map<string, { readAt: number; route: Promise<Route> }>();

/** Where mail of a sender goes now; read again after five seconds, so that a message costs no look at the database. */
export function routeFor(of: RouteKey): Promise<Route> {
  const key = `${of.traffic} ${of.byMailbox ? 'mailbox' : ''} ${of.projectId} ${of.fromEmail}`;
  const known = routes.get(key);
  if (known !== undefined && Date.now() - known.readAt < FRESH_MS) return known.route;
  if (routes.size >= MAX_ROUTES) routes.clear();
  const route = readRoute(of);
  routes.set(key, { readAt: Date.now(), route });
  route.catch(() => routes.delete(key));
  return route;
}

async function readRoute(of: RouteKey): Promise<Route> {
  const { projectId, fromEmail, traffic } = of;
  if (!of.byMailbox) return createRoute(await transportsFor(projectId, fromEmail), projectId, traffic);
  const account = await db.mailboxAccount.findUnique({
    where: { projectId_emailKey: { projectId, emailKey: emailKey(fromEmail) } },
  });
  if (account === null) return { width: 1, send: () => Promise.resolve(goneOutcome(fromEmail)) };
  return createRoute([await cachedTransport(account, () => openMailbox(account))], projectId, traffic);
}

/** What a way is opened by. */
type ProviderRow = Pick<Prisma.MailProviderModel, 'id' | 'domain' | 'kind' | 'settings' | 'credentials' | 'revision'>;

/** Those of the sender's domain; where it has none, those of the project; where that has none, the installation's. */
async function transportsFor(projectId: string, fromEmail: string): Promise<Transport[]> {
  const domain = normalizeDomain(fromEmail.slice(fromEmail.lastIndexOf('@') + 1));
  // A prepared statement, since all mail of a sender waits for it (see `senderFor`).
  const { rows: providers } = await pool.query<ProviderRow>({
    name: 'providers-of-sender',
    text: `SELECT id, domain, kind::text, settings, credentials, revision FROM mail_providers
      WHERE project_id = $1 AND domain IN ($2, '') ORDER BY position, id`,
    values: [projectId, domain],
  });
  const own = providers.filter((provider) => provider.domain !== '');
  const chosen = own.length > 0 ? own : providers;
  if (chosen.length === 0) return [DEFAULT_TRANSPORT];
  return Promise.all(
    chosen.map((provider) =>
      cachedTransport(provider, async () => withTransportHealth(provider, await openTransport(provider))),
    ),
  );
}

/** The relay of the environment, or the inbox of a development system. */
const DEFAULT_TRANSPORT: Transport = {
  id: 'installation',
  get width() {
    return smtpPoolWidth();
  },
  signing: 'whole',
  send: (message, traffic) => smtpPool(traffic).send(message),
  close: () => Promise.resolve(),
};

/** The way of a provider's row. */
export function openTransport(provider: Omit<ProviderRow, 'domain' | 'revision'>): Promise<Transport> | Transport {
  const { id, kind } = provider;
  const credentials = credentialsOf(provider);
  return kind === 'smtp'
    ? openSmtp(id, provider.settings as unknown as SmtpSettings, credentials as SmtpCredentials | undefined)
    : openSes(id, provider.settings as unknown as SesSettings, credentials as SesCredentials);
}

/** What a provider is signed in to with; undefined when it needs nothing. */
export function credentialsOf({
  id,
  credentials,
}: Pick<Prisma.MailProviderModel, 'id' | 'credentials'>): SmtpCredentials | SesCredentials | undefined {
  return credentials === null
    ? undefined
    : (JSON.parse(providerCredentials.decrypt(credentials, id)) as SmtpCredentials);
}

const open = new Map<string, { revision: number; way: Promise<Transport> }>();

/** One way for the whole process; another when its settings have changed. The older one finishes what it has. */
function cachedTransport(
  { id, revision }: { id: string; revision: number },
  create: () => Promise<Transport> | Transport,
): Promise<Transport> {
  const known = open.get(id);
  if (known !== undefined && known.revision === revision) return known.way;
  const way = Promise.resolve().then(create);
  open.set(id, { revision, way });
  way.catch(() => open.delete(id));
  known?.way
    .then((old) => old.close())
    .catch((error: unknown) => logger.warn({ err: error }, 'a way out was not closed'));
  return way;
}

function createRoute(ways: Transport[], projectId: string, traffic: Traffic): Route {
  const [only, second] = ways;
  const send = async (way: Transport, message: OutgoingMessage): Promise<SendOutcome> => {
    if (way.signing === 'none') return way.send(message, traffic);
    const sender = await senderOf(projectId, addressOfFrom(message));
    // SES over its API has a MAIL FROM of its own, and writes the envelope anew.
    const outgoing = way.signing === 'whole' ? withReturnPath(message, projectId, sender.mailFromDomain) : message;
    return way.send(sender.dkim === undefined ? outgoing : await signed(outgoing, sender.dkim, way.signing), traffic);
  };
  if (only !== undefined && second === undefined) {
    return {
      get width() {
        return only.width;
      },
      send: (message) => send(only, message),
    };
  }
  const rests = new Cooldowns();
  return {
    get width() {
      return Math.max(1, ...ways.map((way) => way.width));
    },
    send: (message) => sendWithFailover(ways, rests, (way) => send(way, message)),
  };
}

/** Whether what comes back to a MAIL FROM subdomain comes to us: Amazon SES takes it itself where it sends. */
const takesReturns = () => !sendingSetup().mx.endsWith('.amazonses.com');

/**
 * The message with a return address of its own, where its domain has a MAIL FROM subdomain whose records are seen. What comes to
 * it is read, so delivery is asked to be reported there.
 */
function withReturnPath(
  message: OutgoingMessage,
  projectId: string,
  mailFromDomain: string | undefined,
): OutgoingMessage {
  if (mailFromDomain === undefined || message.from === '' || !takesReturns()) return message;
  const from = returnAddress(message.id, mailFromDomain, { projectId, email: message.to });
  return { ...message, signAs: addressOfFrom(message), from, reportAs: message.id };
}

/** The address that a signature is made for. */
const addressOfFrom = ({ signAs, from }: OutgoingMessage) => signAs ?? from;

/**
 * Sends by the first way that takes it. What was accepted, may have been accepted, or was refused for itself goes nowhere
 * else: only what certainly was not taken, because the way is not one just now.
 */
export async function sendWithFailover(
  ways: readonly Transport[],
  rests: Cooldowns,
  send: (way: Transport) => Promise<SendOutcome>,
): Promise<SendOutcome> {
  let last: SendOutcome | undefined;
  for (const way of ways) {
    if (rests.of(way.id) > 0) continue;
    const outcome = await send(way);
    if (!mayGoElsewhere(outcome)) return outcome;
    rests.begin(way.id, outcome);
    last = outcome.kind === 'deferred' || last === undefined ? outcome : last;
  }
  const waitMs = Math.min(...ways.map((way) => rests.of(way.id)));
  if (last === undefined) return hostDeferred('Every way out is left alone for a while.', waitMs);
  return last.kind === 'deferred' ? { ...last, waitMs } : last;
}

/** Whether a message that a way did not take may go by another: the way can't be reached, or takes nothing from us. */
export const mayGoElsewhere = isTransportFailure;

/** Which ways are left alone, and until when. */
export class Cooldowns {
  readonly #until = new Map<string, number>();

  /** For how much longer, in milliseconds. */
  of(id: string): number {
    return Math.max(0, (this.#until.get(id) ?? 0) - performance.now());
  }

  begin(id: string, outcome: SendOutcome): void {
    const waitMs = outcome.kind === 'deferred' ? (outcome.waitMs ?? UNREACHABLE_REST_MS) : REFUSED_REST_MS;
    this.#until.set(id, performance.now() + waitMs);
  }
}
