import { setTimeout as sleep } from 'node:timers/promises';
import { config, guardedLookup, hostProblem, logger, type Prisma } from '@postroom/platform';
import { createSmtpPool, localHostName, probeRelay, type Relay, type SendOutcome, type SmtpPool } from '@postroom/smtp';
import { providerLimits } from '../provider-limits.ts';
import { TEST_TIMEOUTS } from '../smtp.ts';
import type { OutgoingMessage, Transport } from '../transport.ts';
import { openCredentials } from './credentials.ts';
import { releaseQuota, reserveQuota } from './quota.ts';
import { explained, noteConnected, noteTrouble } from './status.ts';
import { accessToken } from './tokens.ts';

type Account = Prisma.MailboxAccountModel;

/** For a turn that comes within this time a message waits in hand; for a later one it goes back to the ledger. */
const PATIENCE_MS = 10_000;
/** How long an account that somebody has to mend is left alone, in milliseconds: trying on would lock it. */
const TROUBLE_MS = 5 * 60_000;

/** A connected mailbox account: its own server, one message at a time, by its rate and its cap. */
export function openMailbox(account: Account): Transport {
  return new MailboxWay(account);
}

class MailboxWay implements Transport {
  readonly id: string;
  readonly width = 1;
  // Its server signs for itself, and may change fields first.
  readonly signing = 'none';
  readonly #account: Account;
  readonly #lane: SmtpPool;
  #needsAttention: boolean;
  #triedAt = 0;

  constructor(account: Account) {
    this.id = account.id;
    this.#account = account;
    this.#needsAttention = account.status === 'needs_attention';
    if (this.#needsAttention) this.#triedAt = account.checkedAt?.getTime() ?? 0;
    this.#lane = createSmtpPool(relayOf(account), {
      connections: 1,
      maxMessagesPerConnection: providerLimits(account.host).messagesPerConnection,
    });
  }

  async send(message: OutgoingMessage): Promise<SendOutcome> {
    const { id, email } = this.#account;
    const restMs = this.#needsAttention ? this.#triedAt + TROUBLE_MS - Date.now() : 0;
    if (restMs > 0) return this.#later(`The mailbox account ${email} needs attention.`, restMs);
    const turn = await reserveQuota(id, PATIENCE_MS);
    if (turn === undefined) return goneOutcome(email);
    if (!turn.granted)
      return this.#later(`The ${turn.reason} of the mailbox account ${email} is used up for now.`, turn.waitMs);
    if (turn.inMs > 0) await sleep(turn.inMs);
    // Other servers let nobody else be the envelope's sender; bounces go to the mailbox.
    const outcome = await this.#lane.send({ ...message, from: email });
    // Whatever the server has said stands, also when the database can't be told: an error would look as if nothing had gone out.
    await this.#note(outcome, turn.hour).catch(warn);
    return outcome;
  }

  async #note(outcome: SendOutcome, countedIn: Date): Promise<void> {
    if (outcome.kind === 'deferred' || outcome.kind === 'refused') await releaseQuota(this.id, countedIn);
    if (outcome.kind === 'refused' && outcome.verdict === 'configuration') {
      this.#triedAt = Date.now();
      this.#needsAttention = true;
      await noteTrouble(this.id, explained(outcome.answer));
    } else if (outcome.kind === 'accepted' && this.#needsAttention) {
      await noteConnected(this.id);
      this.#needsAttention = false;
    }
  }

  #later(answer: string, waitMs: number): SendOutcome {
    return { kind: 'deferred', answer, waitMs, scope: 'host', untried: true };
  }

  close(): Promise<void> {
    return this.#lane.close();
  }
}

const warn = (error: unknown) => logger.warn({ err: error }, 'the state of a mailbox account could not be kept');

/** What becomes of mail whose account is gone: nobody else's server may send it. */
export function goneOutcome(email: string): SendOutcome {
  const answer = `The mailbox account ${email}, which this was to go out by, is not connected any more.`;
  return { kind: 'refused', answer, verdict: 'configuration', stop: 'account' };
}

/** Signs in and sends nothing; what keeps mail from going this way, if anything does. */
export function testMailboxServer(account: Account): Promise<SendOutcome | undefined> {
  return probeRelay(relayOf(account), TEST_TIMEOUTS);
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
    clientName: localHostName(),
    lookup: guardedLookup(() => config.providerScope),
  };
}
