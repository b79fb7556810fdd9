import type { SESv2Client } from '@aws-sdk/client-sesv2';
import { logger, normalizeDomain } from '@postroom/platform';
import { recordWriteIntent, type SendOutcome } from '@postroom/smtp';
import { RateLimiter } from '../rate-limiter.ts';
import type { OutgoingMessage, Transport } from '../transport.ts';
import { rateScope } from './account.ts';
import { outcomeOfError } from './outcome.ts';
import { type SendOptions, SesRequests } from './requests.ts';
import { TRANSPORT_POLICY } from '../policy.ts';

export interface SesSettings {
  region: string;
  /** The configuration set that publishes events; without one SES reports nothing. */
  configurationSet?: string | undefined;
  /** The SNS topic that delivers events. */
  topicArn?: string | undefined;
  /** Overrides the region's endpoint, such as for AWS PrivateLink. */
  endpoint?: string | undefined;
}

export interface SesCredentials {
  accessKeyId: string;
  secretAccessKey: string;
}

/** The message tag that carries a message's id to SES and back in each event. */
export const MESSAGE_TAG = 'postroom-message';

const { rateCacheMs: RATE_CACHE_MS, minPerSecond: MIN_RATE, throttleFactor: THROTTLE_FACTOR } = TRANSPORT_POLICY.ses;

/** Sending limits of an account. */
export interface SesAccount {
  maxPerSecond: number;
  maxPerDay: number;
  sentLastDay: number;
  /** Whether it may send to any address; new accounts are in the sandbox. */
  production: boolean;
  sendingEnabled: boolean;
}

/** Opens Amazon SES (API v2), limited to the account's send rate in the region, which all its providers share. */
export async function openSes(id: string, settings: SesSettings, credentials: SesCredentials): Promise<Transport> {
  const client = await createClient(settings, credentials);
  const transport = new SesTransport(id, rateScope(id, settings.region, credentials.accessKeyId), settings, client);
  await transport.readRate();
  return transport;
}

/** Fetches the account's sending limits. @throws SDK errors. */
export async function readSesAccount(settings: SesSettings, credentials: SesCredentials): Promise<SesAccount> {
  const client = await createClient(settings, credentials);
  try {
    return await accountOf(client);
  } finally {
    client.destroy();
  }
}

async function createClient({ region, endpoint }: SesSettings, credentials: SesCredentials): Promise<SESv2Client> {
  const sdk = await import('@aws-sdk/client-sesv2');
  return new sdk.SESv2Client({
    region,
    credentials,
    // The ledger decides about retries.
    maxAttempts: 1,
    requestHandler: new SesRequests() as never,
    ...(endpoint === undefined ? {} : { endpoint }),
  });
}

async function accountOf(client: SESv2Client): Promise<SesAccount> {
  const { GetAccountCommand } = await import('@aws-sdk/client-sesv2');
  const { SendQuota, ProductionAccessEnabled, SendingEnabled } = await client.send(new GetAccountCommand({}));
  return {
    maxPerSecond: SendQuota?.MaxSendRate ?? MIN_RATE,
    maxPerDay: SendQuota?.Max24HourSend ?? 0,
    sentLastDay: SendQuota?.SentLast24Hours ?? 0,
    production: ProductionAccessEnabled ?? false,
    sendingEnabled: SendingEnabled ?? true,
  };
}

class SesTransport implements Transport {
  readonly id: string;
  readonly kind = 'ses';
  // SES rewrites Date and Message-ID, so the signature must exclude them (SES docs: manual DKIM signing).
  readonly signing = 'without date and id';
  readonly #settings: SesSettings;
  readonly #client: SESv2Client;
  readonly #limiter: RateLimiter;
  #rate: number = MIN_RATE;
  #rateReadAt = -Infinity;
  #inFlight = 0;
  #closed = false;

  constructor(id: string, rateScope: string, settings: SesSettings, client: SESv2Client) {
    this.id = id;
    this.#settings = settings;
    this.#client = client;
    this.#limiter = new RateLimiter(rateScope, MIN_RATE);
  }

  /** A quarter second's worth of messages: few wait here, and a slow response doesn't stall the rest. */
  get width(): number {
    return Math.max(1, Math.min(64, Math.ceil(this.#rate / 4)));
  }

  async send(message: OutgoingMessage, traffic: 'campaigns' | 'transactional'): Promise<SendOutcome> {
    this.#inFlight++;
    try {
      await this.#limiter.acquire(traffic);
      if (performance.now() - this.#rateReadAt > RATE_CACHE_MS) void this.readRate();
      return await this.#sendNow(message);
    } finally {
      if (--this.#inFlight === 0 && this.#closed) this.#client.destroy();
    }
  }

  async #sendNow(message: OutgoingMessage): Promise<SendOutcome> {
    const { SendEmailCommand } = await import('@aws-sdk/client-sesv2');
    const command = new SendEmailCommand({
      Destination: { ToAddresses: [destinationOf(message.to)] },
      Content: { Raw: { Data: plainBytes(message) } },
      EmailTags: [{ Name: MESSAGE_TAG, Value: message.id }],
      ...(this.#settings.configurationSet === undefined
        ? {}
        : { ConfigurationSetName: this.#settings.configurationSet }),
    });
    const options: SendOptions = { beforeWrite: () => recordWriteIntent([message]) };
    try {
      const { MessageId } = await this.#client.send(command, options as object);
      return { kind: 'accepted', answer: `Accepted by Amazon SES as ${MessageId}` };
    } catch (error) {
      const outcome = outcomeOfError(error);
      if (outcome.kind === 'deferred' && outcome.unreachable !== true) this.#slowDown();
      return outcome;
    }
  }

  #slowDown(): void {
    this.#rate = Math.max(MIN_RATE, this.#rate * THROTTLE_FACTOR);
    this.#limiter.setRate(this.#rate);
  }

  /** Updates the rate limit from the account's limits; keeps the current rate if they can't be read. */
  async readRate(): Promise<void> {
    this.#rateReadAt = performance.now();
    try {
      const { maxPerSecond } = await accountOf(this.#client);
      this.#rate = Math.max(MIN_RATE, maxPerSecond);
      this.#limiter.setRate(this.#rate);
    } catch (error) {
      logger.warn({ err: error, provider: this.id }, 'SES send rate not read');
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#inFlight === 0) this.#client.destroy();
  }
}

/** The message without SMTP dot-stuffing. */
function plainBytes({ data, stuffed }: OutgoingMessage): Uint8Array {
  if (typeof data !== 'string') return data;
  return stuffed === true
    ? Buffer.from(data.replaceAll('\r\n..', '\r\n.').replace(/^\.\./, '.'), 'latin1')
    : Buffer.from(data, 'utf8');
}

/** SES accepts domains only as A-labels. A non-ASCII local part is left for SES to reject. */
function destinationOf(email: string): string {
  const at = email.lastIndexOf('@') + 1;
  return email.slice(0, at) + (normalizeDomain(email.slice(at)) || email.slice(at));
}
