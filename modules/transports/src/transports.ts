import { LRUCache } from 'lru-cache';
import { type Sender, sendingSetup } from '@postroom/domains';
import { db, emailDomain, emailKey, pool, type Prisma } from '@postroom/platform';
import { smtpPool, smtpPoolWidth, type Traffic } from './smtp-pools.ts';
import { returnAddress } from '@postroom/bounces';
import { addDkimSignature, senderOf } from './signing.ts';
import { hostDeferred, type SendOutcome } from '@postroom/smtp';
import { disconnectedOutcome, openMailbox } from './mailboxes/transport.ts';
import { providerCredentials } from './credentials.ts';
import { measureSend } from './metrics.ts';
import { openSes, type SesCredentials, type SesSettings } from './ses/ses.ts';
import { openSmtp, type SmtpCredentials, type SmtpSettings } from './smtp.ts';
import { TransportCache } from './transport-cache.ts';
import { isTransportFailure, withTransportHealth } from './transport-health.ts';
import { TRANSPORT_POLICY } from './policy.ts';
import type { OutgoingMessage, Transport } from './transport.ts';

/** The transports for a sender's mail, tried in order. */
export interface Route {
  /** How many messages to submit concurrently. */
  readonly width: number;
  /** Signs and sends a message once. Server failures are outcomes, not rejections. */
  send: (message: OutgoingMessage) => Promise<SendOutcome>;
}

/** The properties of a message that determine its route. */
export interface RouteKey {
  projectId: string;
  fromEmail: string;
  traffic: Traffic;
  /** Whether it may only be sent through the mailbox account of its From address. */
  byMailbox: boolean;
}

const routes = new LRUCache<string, Route, RouteKey>({
  max: TRANSPORT_POLICY.routes.max,
  ttl: TRANSPORT_POLICY.routes.cacheMs,
  ignoreFetchAbort: true,
  fetchMethod: (_key, _stale, { context: of }) => readRoute(of),
});

const openTransports = new TransportCache();

/** The current route for a sender, cached for five seconds so that sending a message needs no database query. */
export function routeFor(of: RouteKey): Promise<Route> {
  const key = `${of.traffic} ${of.byMailbox ? 'mailbox' : ''} ${of.projectId} ${of.fromEmail}`;
  return routes.forceFetch(key, { context: of });
}

async function readRoute(of: RouteKey): Promise<Route> {
  const { projectId, fromEmail } = of;
  if (!of.byMailbox) {
    const [transports, sender] = await Promise.all([
      transportsFor(projectId, fromEmail),
      senderOf(projectId, fromEmail),
    ]);
    return createRoute(transports, of, sender);
  }
  const account = await db.mailboxAccount.findUnique({
    where: { projectId_emailKey: { projectId, emailKey: emailKey(fromEmail) } },
  });
  if (account === null) return { width: 1, send: () => Promise.resolve(disconnectedOutcome(fromEmail)) };
  return createRoute([await openTransports.get(account, () => openMailbox(account))], of);
}

/** The columns needed to open a transport. */
type ProviderRow = Pick<Prisma.MailProviderModel, 'id' | 'domain' | 'kind' | 'settings' | 'credentials' | 'revision'>;

/** The transports of the sender's domain, else those of the project, else the installation's default. */
async function transportsFor(projectId: string, fromEmail: string): Promise<Transport[]> {
  const domain = emailDomain(fromEmail);
  // Prepared, because all of a sender's mail waits for this query (see `senderFor`).
  const { rows: providers } = await pool.query<ProviderRow>({
    name: 'providers-of-sender',
    text: `SELECT id, domain, kind::text, settings, credentials, revision FROM mail_providers
      WHERE project_id = $1 AND domain IN ($2, '') ORDER BY position, id`,
    values: [projectId, domain],
  });
  const ofDomain = providers.filter((provider) => provider.domain !== '');
  const chosen = ofDomain.length > 0 ? ofDomain : providers;
  if (chosen.length === 0) return [defaultTransport];
  return Promise.all(
    chosen.map((provider) =>
      openTransports.get(provider, async () => withTransportHealth(provider, await openTransport(provider))),
    ),
  );
}

/** The relay from `SMTP_URL`, or the development inbox. */
const defaultTransport: Transport = {
  id: 'installation',
  kind: 'relay',
  get width() {
    return smtpPoolWidth();
  },
  signing: 'whole',
  send: (message, traffic) => smtpPool(traffic).send(message),
  close: () => Promise.resolve(),
};

/** Opens the transport of a provider. */
function openTransport(provider: Omit<ProviderRow, 'domain' | 'revision'>): Promise<Transport> | Transport {
  const { id, kind } = provider;
  const credentials = credentialsOf(provider);
  return kind === 'smtp'
    ? openSmtp(id, provider.settings as unknown as SmtpSettings, credentials as SmtpCredentials | undefined)
    : openSes(id, provider.settings as unknown as SesSettings, credentials as SesCredentials);
}

/** Decrypts a provider's credentials; undefined if it has none. */
export function credentialsOf({
  id,
  credentials,
}: Pick<Prisma.MailProviderModel, 'id' | 'credentials'>): SmtpCredentials | SesCredentials | undefined {
  return credentials === null
    ? undefined
    : (JSON.parse(providerCredentials.decrypt(credentials, id)) as SmtpCredentials);
}

/** @param own the sender of mail from the route's address, unless no transport signs. */
function createRoute(transports: Transport[], { projectId, fromEmail, traffic }: RouteKey, own?: Sender): Route {
  const [only, second] = transports;
  const send = (transport: Transport, message: OutgoingMessage) =>
    measureSend(transport.kind, traffic, () => signAndSend(transport, message));
  const signAndSend = async (transport: Transport, message: OutgoingMessage): Promise<SendOutcome> => {
    if (transport.signing === 'none') return transport.send(message, traffic);
    const address = addressOfFrom(message);
    const sender = address === fromEmail && own !== undefined ? own : await senderOf(projectId, address);
    // The SES API uses its own MAIL FROM and rewrites the envelope.
    const outgoing =
      transport.signing === 'whole' ? withReturnPath(message, projectId, sender.mailFromDomain) : message;
    return transport.send(
      sender.dkim === undefined ? outgoing : await addDkimSignature(outgoing, sender.dkim, transport.signing),
      traffic,
    );
  };
  if (only !== undefined && second === undefined) {
    return {
      get width() {
        return only.width;
      },
      send: (message) => send(only, message),
    };
  }
  const cooldowns = new Cooldowns();
  return {
    get width() {
      return Math.max(1, ...transports.map((transport) => transport.width));
    },
    send: (message) => sendWithFailover(transports, cooldowns, (transport) => send(transport, message)),
  };
}

/** Whether bounces to a MAIL FROM subdomain reach us; where Amazon SES is the MX, it processes them itself. */
const receivesBounces = () => !sendingSetup().mx.endsWith('.amazonses.com');

/**
 * Gives the message its own return address if its domain has a verified MAIL FROM subdomain. We process mail to that address,
 * so delivery status notifications are requested too.
 */
function withReturnPath(
  message: OutgoingMessage,
  projectId: string,
  mailFromDomain: string | undefined,
): OutgoingMessage {
  if (mailFromDomain === undefined || message.from === '' || !receivesBounces()) return message;
  const from = returnAddress(message.id, mailFromDomain, { projectId, email: message.to });
  return { ...message, signAs: addressOfFrom(message), from, reportAs: message.id };
}

/** The address whose domain signs the message. */
const addressOfFrom = ({ signAs, from }: OutgoingMessage) => signAs ?? from;

/**
 * Sends through the first available transport. Fails over only if the transport itself failed and the message was definitely
 * not accepted; a message that was or may have been accepted, or was refused, is never sent elsewhere.
 */
async function sendWithFailover(
  transports: readonly Transport[],
  cooldowns: Cooldowns,
  send: (transport: Transport) => Promise<SendOutcome>,
): Promise<SendOutcome> {
  let last: SendOutcome | undefined;
  for (const transport of transports) {
    if (cooldowns.remainingMs(transport.id) > 0) continue;
    const outcome = await send(transport);
    if (!isTransportFailure(outcome)) return outcome;
    cooldowns.start(transport.id, outcome);
    last = outcome.kind === 'deferred' || last === undefined ? outcome : last;
  }
  const waitMs = Math.min(...transports.map((transport) => cooldowns.remainingMs(transport.id)));
  if (last === undefined) return hostDeferred('All transports are cooling down after failures.', waitMs);
  return last.kind === 'deferred' ? { ...last, waitMs } : last;
}

/** Tracks which transports are cooling down, and until when. */
class Cooldowns {
  readonly #until = new Map<string, number>();

  /** Remaining cooldown, in milliseconds; 0 if there is none. */
  remainingMs(id: string): number {
    return Math.max(0, (this.#until.get(id) ?? 0) - performance.now());
  }

  start(id: string, outcome: SendOutcome): void {
    const waitMs =
      outcome.kind === 'deferred'
        ? (outcome.waitMs ?? TRANSPORT_POLICY.cooldown.unreachableMs)
        : TRANSPORT_POLICY.cooldown.refusedMs;
    this.#until.set(id, performance.now() + waitMs);
  }
}
