import { isDraining } from '@postroom/platform';
import { type Claimable, type ClaimedPage, NO_PAGE } from './claim-page.ts';
import { MAIL_POLICY } from './policy.ts';
import { type Reserved, reserveUpTo } from './reservations.ts';
import { extendShard } from './shards.ts';

const { minRange, maxRange, rangeMs } = MAIL_POLICY.shard;

/** What a shard claims, and when it takes no more ranges. */
interface Until {
  /** Whether it claims messages that are due too, before those of its range: if they wait for local times, they are most of a campaign. */
  withDue: boolean;
  /** On the clock of `performance.now()`. */
  deadline: number;
  /** Waits a moment when all messages are taken. @returns whether more may follow. */
  mayFollow: () => Promise<boolean>;
}

/** The ranges of a shard: each lasts about as long, at the rate of the one before. */
export class ShardRanges {
  readonly #campaignId: string;
  readonly #claim: string;
  readonly #until: Until;
  #reserved: Reserved | undefined;
  /** Whether it took its last range because its time was up. */
  isTimeUp = false;
  /** Whether all that it took from the campaign is reserved. */
  isReserved = true;
  #messages: number = minRange;
  #claimed = 0;
  #beganAt = performance.now();

  constructor(campaignId: string, claim: string, until: Until) {
    this.#campaignId = campaignId;
    this.#claim = claim;
    this.#until = until;
  }

  /** Claims a page. What is left of the range when this process drains, or the campaign is paused, is returned to the run. */
  async next(claimReserved: (reserved: Claimable) => Promise<ClaimedPage>): Promise<ClaimedPage> {
    while (!isDraining()) {
      if (this.#reserved !== undefined) {
        if (performance.now() > this.#reserved.expiresAt) await this.#reserve(this.#reserved.position);
        const withDue = this.#until.withDue && performance.now() < this.#until.deadline;
        const page = await claimReserved({ ...this.#reserved, withDue });
        this.#claimed += page.rows.length;
        if (page.rows.length > 0 || page.isFencedOff) return page;
      }
      // A range that was begun is sent to its end, even after the deadline.
      this.isTimeUp = performance.now() >= this.#until.deadline;
      if (this.isTimeUp || !(await this.#extend())) return NO_PAGE;
    }
    return NO_PAGE;
  }

  /** @returns whether there may be a range. */
  async #extend(): Promise<boolean> {
    const perRange = (this.#claimed * rangeMs) / Math.max(1, performance.now() - this.#beganAt);
    const messages = Math.round(Math.min(maxRange, this.#messages * 4, Math.max(minRange, perRange)));
    this.isReserved = false;
    const range = await extendShard(this.#campaignId, this.#claim, messages);
    this.isReserved = range?.until == null;
    if (range === undefined) return false;
    if (range.until === null) {
      // What is due needs a reservation as well. The cursor is behind all messages.
      if (this.#until.withDue && this.#reserved === undefined) await this.#reserve(range.after);
      return this.#until.mayFollow();
    }
    this.#messages = messages;
    this.#claimed = 0;
    this.#beganAt = performance.now();
    await this.#reserve(range.until);
    this.isReserved = true;
    return true;
  }

  async #reserve(position: string): Promise<void> {
    // The campaign's reservation may reach further than this shard.
    this.#reserved = { ...(await reserveUpTo(this.#campaignId, position)), position };
  }
}
