import { setTimeout as sleep } from 'node:timers/promises';
import { ledgerPool } from './ledger-pool.ts';
import { MAIL_POLICY } from './policy.ts';

async function readCampaign(id: string): Promise<{ status: string; frozen_at: Date | null } | undefined> {
  const { rows } = await ledgerPool.query<{ status: string; frozen_at: Date | null }>({
    name: 'campaign-state',
    text: 'SELECT status::text, frozen_at FROM campaigns WHERE id = $1',
    values: [id],
  });
  return rows[0];
}

/**
 * Tells the campaign's status every second. A claim notices it as well, but a slow server may delay the next one for minutes.
 * @returns ends it.
 */
export function watchCampaignStatus(id: string, tell: (status: string | undefined) => void): () => void {
  const timer = setInterval(async () => {
    try {
      tell((await readCampaign(id))?.status);
    } catch {
      // It looks again soon.
    }
  }, MAIL_POLICY.campaign.statusPollMs);
  return () => clearInterval(timer);
}

/** Tells whether the recipient snapshot may still add messages to the ledger. */
export class SnapshotEnd {
  readonly #campaignId: string;
  readonly #signal: AbortSignal;
  readonly #time: { readonly endsAt: number };
  #isReached = false;

  /** @param time when to stop waiting. */
  constructor(campaignId: string, signal: AbortSignal, time: { readonly endsAt: number }) {
    this.#campaignId = campaignId;
    this.#signal = signal;
    this.#time = time;
  }

  /**
   * Call it when all messages are claimed. Waits a moment if ranges may follow.
   * @returns whether to look for messages again, which is true once more after the last range.
   */
  async mayFollow(): Promise<boolean> {
    if (this.#isReached || this.#signal.aborted || performance.now() >= this.#time.endsAt) return false;
    const campaign = await readCampaign(this.#campaignId);
    this.#isReached = campaign?.frozen_at !== null;
    if (!this.#isReached) await sleep(RANGE_POLL_MS, undefined, { signal: this.#signal }).catch(() => {});
    return true;
  }
}

/** A range is usually written long before its first message can be sent. */
const RANGE_POLL_MS = 100;
