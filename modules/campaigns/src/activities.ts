import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { newClaim } from '@postroom/emails';
import { freeze, type Frozen } from './freeze.ts';
import type { Counts } from './progress-row.ts';
import { startScheduled } from './sending.ts';
import { cancelRest, complete, sendTurn, type Tally, type Turn } from './turn.ts';

export type { Counts, Frozen, Turn };

const BEAT_MS = 2_000;

/** Tells Temporal that the activity lives, and how far it is, until its work ends. */
async function beating<T>(work: () => Promise<T>, progress: object = {}): Promise<T> {
  const beat = setInterval(() => heartbeat(progress), BEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(beat);
  }
}

/** Writes a campaign's recipients into the ledger, once. */
export async function freezeRecipients(campaignId: string): Promise<Frozen> {
  return beating(() => freeze(campaignId));
}

/** Sends for a while, and says where the campaign stands. */
export async function sendPages(campaignId: string, run = 1): Promise<Turn> {
  const tally: Tally = {};
  return beating(() => sendTurn({ id: campaignId, run }, newClaim(), cancellationSignal(), tally), tally);
}

/** Closes what a canceled campaign has not sent. */
export async function cancelRecipients(campaignId: string): Promise<Counts> {
  return beating(() => cancelRest(campaignId, newClaim(), () => heartbeat()));
}

/** Completes a campaign of which nothing is open any more. */
export async function completeCampaign(campaignId: string, run = 1): Promise<boolean> {
  return beating(() => complete({ id: campaignId, run }));
}

/** Starts a campaign whose time has come, unless it was moved to another. */
export async function startScheduledCampaign(
  campaignId: string,
  scheduledAt: string,
): Promise<'started' | 'moved' | 'paused'> {
  return startScheduled(campaignId, new Date(scheduledAt));
}
