import { drainSignal, isDraining, listen, Notifier, NOW, sleep } from '@postroom/platform';
import { endQueueDrain, renewDrainLease, isCampaignSending } from './queue-drains.ts';
import {
  checkNotHeld,
  ledgerPool,
  MAIL_POLICY,
  settleStaleClaims,
  reserveQueue,
  type Reserved,
  RunTime,
  whileReserved,
} from '@postroom/ledger';
import { claimQueued, mayClaim, REQUEUE } from '@postroom/ledger/sql';
import { assertHere } from '@postroom/projects';
import { isHere } from '@postroom/projects/sql';
import {
  type BatchRun,
  CLAIMED_COLUMNS,
  type ClaimedRow,
  type Outcomes,
  prepare,
  type ReadyMessage,
  sendClaimed,
} from './transactional.ts';

/** The result of one run of a queue drain. */
export interface QueueDrainRun {
  /** Whether the queue is empty, or another drain has taken over. */
  over: boolean;
  /** The backoff that the mail server asked for, in milliseconds; 0 if none. */
  waitMs: number;
  /** The mail server's answer if it accepts no mail at the moment, else null. */
  held: string | null;
  counts: BatchRun['counts'];
  /** The ids of the messages that were not accepted, at most 500 per outcome. Missing in results from before they were recorded. */
  outcomes?: Outcomes;
}

/** The timing of a queue drain, in milliseconds. */
export type DrainPolicy = Record<'runMs' | 'windowMs' | 'claimIntervalMs' | 'busyMs' | 'pollMs' | 'renewMs', number>;

/** Claims due first attempts of a project. Each activity attempt claims a row at most once (see `transactional.ts`). */
const CLAIM_QUEUED = `
  WITH due AS (
    SELECT id FROM messages WHERE project_id = $1 AND campaign_id IS NULL AND dispatched_at IS NULL AND mailbox_id IS NULL
      AND deferred_at IS NULL AND not_before <= least(${NOW}, $5::timestamptz) AND state = 'planned' AND claim IS DISTINCT FROM $3
      AND ${mayClaim({ epoch: '$6', number: '$7', until: '$8' })} AND ${isHere('$1')}
    ORDER BY not_before LIMIT $4 FOR NO KEY UPDATE SKIP LOCKED
  )
  ${claimQueued('$3', '$2')} WHERE m.id = ANY (ARRAY(SELECT id FROM due))
  RETURNING ${CLAIMED_COLUMNS}`;

/**
 * Sends a project's queued mail for one run, or until the queue is empty. One statement claims rows and assigns them to this
 * workflow, without the dispatcher.
 */
export async function drainQueue(
  projectId: string,
  workflowId: string,
  claim: string,
  signal: AbortSignal,
  policy: DrainPolicy = MAIL_POLICY.drain,
): Promise<QueueDrainRun> {
  const { epoch } = await checkNotHeld();
  await settleStaleClaims({ workflowId }, claim);
  await requeueUnsent(workflowId);
  await assertHere(projectId);
  const source = new QueueSource({ projectId, workflowId, claim, signal, policy });
  const send = async () => {
    await source.open();
    return sendClaimed({ claim, scope: { workflowId }, epoch }, signal, {
      claim: (limit) => source.claim(limit),
      extend: () => source.extend(),
      settled: async (settlements) => {
        if (settlements.every(({ state }) => state !== 'planned') && settlements.length > 0) return;
        await requeueUnsent(workflowId);
      },
    });
  };
  const { backoff, counts, outcomes } = await send().finally(() => source.close());
  const waitMs = backoff?.waitMs ?? 0;
  const over = source.isOver && backoff === undefined;
  if (over) await endQueueDrain(projectId, workflowId);
  else
    await renewDrainLease(
      projectId,
      workflowId,
      backoff === undefined ? 0 : Math.max(waitMs, MAIL_POLICY.drain.maxBackoffMs),
    );
  return { over, waitMs, held: backoff?.answer ?? null, counts, outcomes };
}

/** Ends a queue drain that keeps failing. Its unsent messages return to the dispatcher. */
export async function abortQueueDrain(projectId: string, workflowId: string, claim: string): Promise<QueueDrainRun> {
  await settleStaleClaims({ workflowId }, claim);
  await requeueUnsent(workflowId);
  await endQueueDrain(projectId, workflowId);
  return { over: true, waitMs: 0, held: null, counts: {} };
}

/** Returns unsent rows of a drain to the dispatcher, which assigns them to another drain or, if deferred, to a workflow. */
async function requeueUnsent(workflowId: string): Promise<void> {
  await ledgerPool.query({
    name: 'emails-requeue-unsent',
    text: `WITH back AS (
        ${REQUEUE} WHERE workflow_id = $1 AND state = 'planned' RETURNING project_id
      ) SELECT pg_notify('postroom', 'emails ' || project_id) FROM back LIMIT 1`,
    values: [workflowId],
  });
}

interface QueueSourceOptions {
  projectId: string;
  workflowId: string;
  claim: string;
  signal: AbortSignal;
  policy: DrainPolicy;
}

/** Claims a project's queued mail, woken by the notifications of those who insert it. */
class QueueSource {
  /** Whether the queue is empty, or another drain has taken over. */
  isOver = false;
  readonly #options: QueueSourceOptions;
  readonly #time: RunTime;
  #claimedAt = 0;
  #reserved: Reserved | undefined;
  #lostLease = false;
  #renewTimer: NodeJS.Timeout | undefined;
  #renewal: Promise<void> | undefined;
  #windowEndsAt: number;
  /** When mail was last claimed. */
  #foundAt = -Infinity;
  /** Messages claimed in the current window. */
  #found = 0;
  /** Whether the last claim was empty. A slow server may delay the next claim past the window, which does not mean that no mail arrived. */
  #isEmpty = false;
  readonly #notifier = new Notifier();
  #stopListening = async () => {};

  constructor(options: QueueSourceOptions) {
    this.#options = options;
    this.#time = new RunTime({ ...MAIL_POLICY.drain, ...options.policy });
    this.#windowEndsAt = performance.now() + options.policy.windowMs;
  }

  /** Renews the lease on a timer, since a slow mail server may delay the next claim. The caller must call `close`. */
  async open(): Promise<void> {
    await this.#renewLease();
    this.#renewTimer = setInterval(
      () => (this.#renewal = this.#renewLease().catch(() => {})),
      this.#options.policy.renewMs,
    );
    this.#stopListening = await listen(`emails ${this.#options.projectId}`, () => this.#notifier.notify());
  }

  async close(): Promise<void> {
    clearInterval(this.#renewTimer);
    await this.#renewal;
    await this.#stopListening();
  }

  /** Goes on while the mail server does not reply to a message. @returns false if the run must end, or another drain has taken over. */
  extend(): boolean {
    if (this.#lostLease || !this.#time.extend()) return false;
    this.#windowEndsAt = performance.now() + this.#options.policy.windowMs;
    this.#found = 0;
    this.isOver = false;
    return true;
  }

  /** Waits for due rows and claims them. Returns none once the run or the drain is over. */
  async claim(limit: number): Promise<ReadyMessage[]> {
    const { signal, policy } = this.#options;
    const { windowMs, claimIntervalMs, busyMs, pollMs } = policy;
    for (;;) {
      const now = performance.now();
      // A draining worker ends its run, so that another one continues at once.
      if (signal.aborted || isDraining() || now > this.#time.endsAt) return [];
      if (this.#lostLease) return this.#end();
      if (now > this.#windowEndsAt) {
        if (this.#isEmpty && (await this.#isQuiet())) return this.#end();
        this.#windowEndsAt = now + windowMs;
        this.#found = 0;
      }
      if (now < this.#claimedAt + claimIntervalMs) await sleep(this.#claimedAt + claimIntervalMs - now, signal);
      this.#claimedAt = performance.now();
      this.#notifier.clear();
      const ready = await this.#claimReady(limit);
      this.#found += ready.length;
      this.#isEmpty = ready.length === 0;
      if (ready.length > 0) {
        this.#foundAt = performance.now();
        return ready;
      }
      const isBusy = performance.now() - this.#foundAt < busyMs;
      const timeoutMs = isBusy ? claimIntervalMs : pollMs;
      await this.#notifier.wait({ timeoutMs, signal: AbortSignal.any([signal, drainSignal]) });
    }
  }

  /** While a campaign is sending, any message keeps the drain open: individual workflows are slow then. */
  async #isQuiet(): Promise<boolean> {
    return this.#found === 0 || (this.#found <= MAIL_POLICY.drain.lowVolume && !(await isCampaignSending()));
  }

  #end(): [] {
    this.isOver = true;
    return [];
  }

  async #renewLease(): Promise<void> {
    this.#lostLease = !(await renewDrainLease(this.#options.projectId, this.#options.workflowId));
  }

  /** A part of a long queue is reserved until it is used up; of a short one, what arrives in the next seconds. */
  async #claimReady(limit: number): Promise<ReadyMessage[]> {
    if (this.#reserved === undefined || this.#reserved.isAll || performance.now() > this.#reserved.expiresAt)
      this.#reserved = await reserveQueue(this.#options.projectId);
    const ready = await this.#claimReserved(limit, this.#reserved);
    if (ready.length > 0 || this.#reserved.isAll) return ready;
    this.#reserved = await reserveQueue(this.#options.projectId);
    return this.#claimReserved(limit, this.#reserved);
  }

  async #claimReserved(limit: number, reserved: Reserved): Promise<ReadyMessage[]> {
    const { projectId, workflowId, claim } = this.#options;
    const { position, epoch, number, until } = reserved;
    const atMost = Math.min(limit, MAIL_POLICY.drain.maxClaimed);
    const { rows } = await whileReserved(reserved, () =>
      ledgerPool.query<ClaimedRow>({
        name: 'emails-claim-queued',
        text: CLAIM_QUEUED,
        values: [projectId, workflowId, claim, atMost, position, epoch, number, until],
      }),
    );
    return rows.length === 0 ? [] : prepare(rows, claim);
  }
}
