import { listen } from '@postroom/platform';
import { endQueueDrain, renewDrainLease, isCampaignSending } from './queue-drains.ts';
import { markStaleClaimsUnknown } from '@postroom/ledger';
import { ledgerPool } from '@postroom/ledger';
import {
  type BatchRun,
  CLAIMED_COLUMNS,
  type ClaimedRow,
  prepare,
  type ReadyMessage,
  sendClaimed,
} from './transactional.ts';

/** What a burst did in a turn. */
export interface QueueDrainOptions {
  /** Whether nothing came any more, or another burst has taken over. */
  over: boolean;
  /** How long the mail server asks to be left alone, in milliseconds; 0 when it names no time. */
  waitMs: number;
  /** Why the mail server takes nothing, when it takes nothing. */
  held: string | null;
  counts: BatchRun['counts'];
}

/** The times of a burst, in milliseconds. */
export interface DrainPolicy {
  /** A turn. */
  turnMs: number;
  /** It ends when in this time nothing came, or no more than a few messages. */
  windowMs: number;
  /** Between two claims, so that a claim is of more than one row. */
  gatherMs: number;
  /** Without a notification the table is looked at this often: for lost ones, and for mail whose time has come. */
  lookMs: number;
  /** How often others are told that it is at work. */
  beatMs: number;
}

export const DRAIN_POLICY: DrainPolicy = {
  turnMs: 20_000,
  windowMs: 3_000,
  gatherMs: 25,
  lookMs: 1_000,
  beatMs: 2_000,
};

/** So few messages may have a workflow each: half as many as begin a burst, so that it does not come and go. */
const FEW = 7;
/** Rows of a claim at most: what they say is read into memory. */
const MOST_CLAIMED = 200;
/** How long a mail server that takes nothing is left alone by the workflow at most, in milliseconds. */
const LONGEST_HOLD_MS = 60_000;

/** The rows of a project that go out for the first time and are due; each attempt claims a row once at most (see `transactional.ts`). */
const CLAIM_BURST = `
  WITH due AS (
    SELECT id FROM messages WHERE project_id = $1 AND campaign_id IS NULL AND dispatched_at IS NULL AND mailbox_id IS NULL
      AND deferred_at IS NULL AND not_before <= now() AND state = 'planned' AND claim IS DISTINCT FROM $3
    ORDER BY not_before LIMIT $4 FOR NO KEY UPDATE SKIP LOCKED
  )
  UPDATE messages m SET state = 'claimed', claim = $3, claimed_at = now(), not_before = NULL, dispatched_at = now(), workflow_id = $2
  FROM due WHERE m.id = due.id
  RETURNING ${CLAIMED_COLUMNS}`;

/**
 * Sends what comes for a project, for a turn or until nothing comes any more. Rows are claimed straight from those that
 * wait: they are given to this workflow in the same statement.
 */
export async function drainQueue(
  projectId: string,
  workflowId: string,
  claim: string,
  signal: AbortSignal,
  pace = DRAIN_POLICY,
): Promise<QueueDrainOptions> {
  await markStaleClaimsUnknown({ workflowId }, claim);
  await putBack(workflowId);
  const source = new BurstSource({ projectId, workflowId, claim, signal, pace });
  const send = async () => {
    await source.open();
    return sendClaimed(workflowId, claim, signal, {
      claim: (limit) => source.claim(limit),
      settled: async (settlements) => {
        if (settlements.every(({ state }) => state !== 'planned') && settlements.length > 0) return;
        await putBack(workflowId);
      },
    });
  };
  const { hold, counts } = await send().finally(() => source.close());
  const waitMs = hold?.waitMs ?? 0;
  const over = source.isOver && hold === undefined;
  if (over) await endQueueDrain(projectId, workflowId);
  else await renewDrainLease(projectId, workflowId, hold === undefined ? 0 : Math.max(waitMs, LONGEST_HOLD_MS));
  return { over, waitMs, held: hold?.answer ?? null, counts };
}

/** Ends a burst that fails again and again; what it has in hand waits for the relay, which decides anew what becomes of it. */
export async function endFailingBurst(
  projectId: string,
  workflowId: string,
  claim: string,
): Promise<QueueDrainOptions> {
  await markStaleClaimsUnknown({ workflowId }, claim);
  await putBack(workflowId);
  await endQueueDrain(projectId, workflowId);
  return { over: true, waitMs: 0, held: null, counts: {} };
}

/** Lets rows of a burst that were not sent wait for the relay again: for another burst, or what was put off, for a workflow. */
async function putBack(workflowId: string): Promise<void> {
  await ledgerPool.query({
    name: 'emails-put-back',
    text: `WITH back AS (
        UPDATE messages SET dispatched_at = NULL, workflow_id = NULL, not_before = coalesce(not_before, now())
        WHERE workflow_id = $1 AND state = 'planned' RETURNING project_id
      ) SELECT pg_notify('postroom', 'emails ' || project_id) FROM back LIMIT 1`,
    values: [workflowId],
  });
}

interface BurstOf {
  projectId: string;
  workflowId: string;
  claim: string;
  signal: AbortSignal;
  pace: DrainPolicy;
}

/** Claims what comes for a project, woken by the notification of its commit. */
class BurstSource {
  /** Whether nothing came any more, or another burst has taken over. */
  isOver = false;
  readonly #of: BurstOf;
  readonly #endsAt: number;
  #claimedAt = 0;
  #hasOther = false;
  #beat: NodeJS.Timeout | undefined;
  #holding: Promise<void> | undefined;
  #windowEndsAt: number;
  /** Messages that came in the window. */
  #found = 0;
  /** Whether the last claim found nothing: a slow server may keep the next one waiting for long. */
  #isEmpty = false;
  #woken = false;
  #wake = () => {};
  #stopListening = async () => {};

  constructor(of: BurstOf) {
    this.#of = of;
    this.#endsAt = performance.now() + of.pace.turnMs;
    this.#windowEndsAt = performance.now() + of.pace.windowMs;
  }

  /** A server may be slow, so the burst is kept for as long as it is at work, and not only when it claims. `close` ends it in any case. */
  async open(): Promise<void> {
    await this.#hold();
    this.#beat = setInterval(() => (this.#holding = this.#hold().catch(() => {})), this.#of.pace.beatMs);
    this.#stopListening = await listen(`emails ${this.#of.projectId}`, () => {
      this.#woken = true;
      this.#wake();
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#beat);
    await this.#holding;
    await this.#stopListening();
  }

  /** Rows that are due, as soon as there are any; none when the turn or the burst is over. */
  async claim(limit: number): Promise<ReadyMessage[]> {
    const { windowMs, gatherMs, lookMs } = this.#of.pace;
    for (;;) {
      const now = performance.now();
      if (this.#of.signal.aborted || now > this.#endsAt) return [];
      if (this.#hasOther) return this.#end();
      if (now > this.#windowEndsAt) {
        if (this.#isEmpty && (await this.#isQuiet())) return this.#end();
        this.#windowEndsAt = now + windowMs;
        this.#found = 0;
      }
      if (now < this.#claimedAt + gatherMs) await this.#pause(this.#claimedAt + gatherMs - now, false);
      this.#claimedAt = performance.now();
      this.#woken = false;
      const ready = await this.#claimReady(limit);
      this.#found += ready.length;
      this.#isEmpty = ready.length === 0;
      if (ready.length > 0) return ready;
      if (!this.#woken) await this.#pause(lookMs, true);
    }
  }

  /** Beside a campaign few messages keep it open: trips through Temporal are slow then. */
  async #isQuiet(): Promise<boolean> {
    return this.#found === 0 || (this.#found <= FEW && !(await isCampaignSending()));
  }

  #end(): [] {
    this.isOver = true;
    return [];
  }

  async #hold(): Promise<void> {
    this.#hasOther = !(await renewDrainLease(this.#of.projectId, this.#of.workflowId));
  }

  async #claimReady(limit: number): Promise<ReadyMessage[]> {
    const { rows } = await ledgerPool.query<ClaimedRow>({
      name: 'emails-claim-burst',
      text: CLAIM_BURST,
      values: [this.#of.projectId, this.#of.workflowId, this.#of.claim, Math.min(limit, MOST_CLAIMED)],
    });
    return rows.length === 0 ? [] : prepare(rows, this.#of.claim);
  }

  #pause(forMs: number, untilWoken: boolean): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#of.signal.removeEventListener('abort', end);
        this.#wake = () => {};
        resolve();
      };
      const timer = setTimeout(end, forMs);
      this.#of.signal.addEventListener('abort', end, { once: true });
      if (untilWoken) this.#wake = end;
    });
  }
}
