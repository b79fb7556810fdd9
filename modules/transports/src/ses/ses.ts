import type { SESv2Client } from '@aws-sdk/client-sesv2';
import { logger, normalizeDomain } from '@postroom/platform';
import type { SendOutcome } from '@postroom/smtp';
import { RateLimiter } from '../rate-limiter.ts';
import type { OutgoingMessage, Transport } from '../transport.ts';
import { outcomeOfError } from './outcome.ts';
import { SesRequests } from './requests.ts';

export interface SesSettings {
  region: string;
  /** Whose events come back; without one SES tells of nothing. */
  configurationSet?: string | undefined;
  /** The topic of SNS that events come by. */
  topicArn?: string | undefined;
  /** Another address than the region's own, such as a private link. */
  endpoint?: string | undefined;
}

export interface SesCredentials {
  accessKeyId: string;
  secretAccessKey: string;
}

/** The tag that carries a message's id to SES and, in each event, back. */
export const MESSAGE_TAG = 'postroom-message';

/** How long the account's rate is taken as it was read, in milliseconds. */
const RATE_FRESH_MS = 5 * 60_000;
/** Until the rate is known: that of a new account. */
const SMALLEST_RATE = 1;
/** After a refusal for going too fast, we go so much slower until the rate is read again. */
const SLOWER = 0.8;

/** What an account may send. */
export interface SesAccount {
  maxPerSecond: number;
  maxPerDay: number;
  sentLastDay: number;
  /** Whether it may send to anybody, which new accounts may not. */
  production: boolean;
  sendingEnabled: boolean;
}

/** Amazon SES, API version 2, at the rate that the account may send. */
export async function openSes(id: string, settings: SesSettings, credentials: SesCredentials): Promise<Transport> {
  const client = await createClient(settings, credentials);
  const way = new SesWay(id, settings, client);
  await way.readRate();
  return way;
}

/** Asks what the account may send. @throws what the SDK throws. */
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
    // Whether something goes again is the ledger's to say.
    maxAttempts: 1,
    requestHandler: new SesRequests() as never,
    ...(endpoint === undefined ? {} : { endpoint }),
  });
}

async function accountOf(client: SESv2Client): Promise<SesAccount> {
  const { GetAccountCommand } = await import('@aws-sdk/client-sesv2');
  const { SendQuota, ProductionAccessEnabled, SendingEnabled } = await client.send(new GetAccountCommand({}));
  return {
    maxPerSecond: SendQuota?.MaxSendRate ?? SMALLEST_RATE,
    maxPerDay: SendQuota?.Max24HourSend ?? 0,
    sentLastDay: SendQuota?.SentLast24Hours ?? 0,
    production: ProductionAccessEnabled ?? false,
    sendingEnabled: SendingEnabled ?? true,
  };
}

class SesWay implements Transport {
  readonly id: string;
  // SES writes Date and Message-ID anew, so a signature must leave them out (SES: manual DKIM signing).
  readonly signing = 'without date and id';
  readonly #settings: SesSettings;
  readonly #client: SESv2Client;
  readonly #pace = new RateLimiter(SMALLEST_RATE);
  #rate = SMALLEST_RATE;
  #rateReadAt = 0;
  #underWay = 0;
  #closed = false;

  constructor(id: string, settings: SesSettings, client: SESv2Client) {
    this.id = id;
    this.#settings = settings;
    this.#client = client;
  }

  /** What goes out in a quarter of a second: little waits here, and a slow answer holds up nothing. */
  get width(): number {
    return Math.max(1, Math.min(64, Math.ceil(this.#rate / 4)));
  }

  async send(message: OutgoingMessage, traffic: 'campaigns' | 'transactional'): Promise<SendOutcome> {
    this.#underWay++;
    try {
      await this.#pace.acquire(traffic);
      if (Date.now() - this.#rateReadAt > RATE_FRESH_MS) void this.readRate();
      return await this.#sendNow(message);
    } finally {
      if (--this.#underWay === 0 && this.#closed) this.#client.destroy();
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
    try {
      const { MessageId } = await this.#client.send(command);
      return { kind: 'accepted', answer: `Taken by Amazon SES as ${MessageId}` };
    } catch (error) {
      const outcome = outcomeOfError(error);
      if (outcome.kind === 'deferred' && outcome.unreachable !== true) this.#slower();
      return outcome;
    }
  }

  #slower(): void {
    this.#rate = Math.max(SMALLEST_RATE, this.#rate * SLOWER);
    this.#pace.setRate(this.#rate);
  }

  /** Sets the pace by what the account may send; one that may not ask goes slowly. */
  async readRate(): Promise<void> {
    this.#rateReadAt = Date.now();
    try {
      const { maxPerSecond } = await accountOf(this.#client);
      this.#rate = Math.max(SMALLEST_RATE, maxPerSecond);
      this.#pace.setRate(this.#rate);
    } catch (error) {
      logger.warn({ err: error, provider: this.id }, 'the sending rate of an SES account could not be read');
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#underWay === 0) this.#client.destroy();
  }
}

/** The message as it is, without the doubled dots that SMTP asks for. */
function plainBytes({ data, stuffed }: OutgoingMessage): Uint8Array {
  if (typeof data !== 'string') return data;
  return stuffed === true
    ? Buffer.from(data.replaceAll('\r\n..', '\r\n.').replace(/^\.\./, '.'), 'latin1')
    : Buffer.from(data, 'utf8');
}

/** SES takes a domain in A-labels alone; a local part beyond ASCII is left to SES to refuse. */
function destinationOf(email: string): string {
  const at = email.lastIndexOf('@') + 1;
  return email.slice(0, at) + (normalizeDomain(email.slice(at)) || email.slice(at));
}
