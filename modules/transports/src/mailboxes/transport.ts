import { setTimeout as sleep } from 'node:timers/promises';
import { config, databaseNow, guardedLookup, hostProblem, logger, type Prisma } from '@postroom/platform';
import { localHostName, probeRelay, type Relay, type SendOutcome, type SmtpPool } from '@postroom/smtp';
import { providerLimits } from '../provider-limits.ts';
import { TRANSPORT_POLICY } from '../policy.ts';
import type { OutgoingMessage, Transport } from '../transport.ts';
import { openCredentials } from './credentials.ts';
import { releaseQuota, reserveQuota } from './quota.ts';
import { withAdvice, recordConnected, recordNeedsAttention } from './status.ts';
import { createSharedPool } from '../shared-pool.ts';
import { accessToken } from './tokens.ts';

type Account = Prisma.MailboxAccountModel;

/** Opens a mailbox account: sends through its own server, one message at a time, within its rate and daily cap. */
export function openMailbox(account: Account): Transport {
  return new MailboxTransport(account);
}

class MailboxTransport implements Transport {
  readonly id: string;
  readonly kind = 'mailbox';
  readonly width = 1;
  // Its own server signs, and may rewrite headers first.
  readonly signing = 'none';
  readonly #account: Account;
  readonly #pool: SmtpPool;
  #needsAttention: boolean;
  #lastFailedAt = 0;

  constructor(account: Account) {
    this.id = account.id;
    this.#account = account;
    this.#needsAttention = account.status === 'needs_attention';
    if (this.#needsAttention) this.#lastFailedAt = account.checkedAt?.getTime() ?? 0;
    this.#pool = createSharedPool(account.id, relayOf(account), {
      connections: 1,
      maxMessagesPerConnection: providerLimits(account.host).messagesPerConnection,
    });
  }

  async send(message: OutgoingMessage): Promise<SendOutcome> {
    const { id, email } = this.#account;
    const cooldownMs = this.#needsAttention
      ? this.#lastFailedAt + TRANSPORT_POLICY.mailboxes.attentionMs - databaseNow()
      : 0;
    if (cooldownMs > 0) return this.#defer(`The mailbox account ${email} needs attention.`, cooldownMs);
    const quota = await reserveQuota(id, TRANSPORT_POLICY.mailboxes.maxQuotaWaitMs);
    if (quota === undefined) return disconnectedOutcome(email);
    if (!quota.granted)
      return this.#defer(`The ${quota.reason} of the mailbox account ${email} is used up for now.`, quota.waitMs);
    if (quota.inMs > 0) await sleep(quota.inMs);
    // These servers reject other envelope senders, so bounces go to the mailbox.
    const outcome = await this.#pool.send({ ...message, from: email });
    // Return the outcome even if recording it fails: an error would suggest that the message was not sent.
    await this.#recordOutcome(outcome, quota.hour).catch(logRecordFailure);
    return outcome;
  }

  async #recordOutcome(outcome: SendOutcome, countedIn: Date): Promise<void> {
    if (outcome.kind === 'deferred' || outcome.kind === 'refused') await releaseQuota(this.id, countedIn);
    if (outcome.kind === 'refused' && outcome.verdict === 'configuration') {
      this.#lastFailedAt = databaseNow();
      this.#needsAttention = true;
      await recordNeedsAttention(this.id, withAdvice(outcome.answer));
    } else if (outcome.kind === 'accepted' && this.#needsAttention) {
      await recordConnected(this.id);
      this.#needsAttention = false;
    }
  }

  #defer(answer: string, waitMs: number): SendOutcome {
    return { kind: 'deferred', answer, waitMs, scope: 'host', untried: true };
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

const logRecordFailure = (error: unknown) => logger.warn({ err: error }, 'mailbox account status not recorded');

/** The outcome for mail whose account was removed: no other server may send it. */
export function disconnectedOutcome(email: string): SendOutcome {
  const answer = `The mailbox account ${email}, which was to send this message, is no longer connected.`;
  return { kind: 'refused', answer, verdict: 'configuration', stop: 'account' };
}

/** Tests the connection without sending. Returns the failure; undefined on success. */
export function testMailboxServer(account: Account): Promise<SendOutcome | undefined> {
  return probeRelay(relayOf(account), TRANSPORT_POLICY.test);
}

function relayOf(account: Account): Relay {
  const { id, host, port, implicitTls, username } = account;
  const problem = hostProblem(host, config.providerScope);
  if (problem !== undefined) throw new TypeError(`The host ${problem}.`);
  const stored = openCredentials(account);
  return {
    host,
    port,
    implicitTls,
    requireTls: !implicitTls,
    insecure: false,
    credentials:
      'password' in stored
        ? { user: username, password: stored.password }
        : { user: username, accessToken: (refused) => accessToken(id, refused) },
    clientName: localHostName(config.PUBLIC_URL),
    lookup: guardedLookup(() => config.providerScope),
  };
}
