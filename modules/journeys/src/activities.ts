import { cancellationSignal } from '@temporalio/activity';
import { checkNotHeld } from '@postroom/ledger';
import { config, FairShare, stopAfterRepeatedErrors } from '@postroom/platform';
import { withHeartbeat, withSlot } from '@postroom/temporal/activity';
import { type Advance, advance } from './advance.ts';
import { callHost } from './calls.ts';
import { pauseAutomatically, readPublished } from './journeys.ts';

export type { Advance } from './advance.ts';

/** Journeys share the slots of campaigns, so the journeys of a project may take at most half of those that are free. */
const slots = new FairShare(config.WORKER_CAMPAIGN_SLOTS);
/** How long a journey waits for a slot, in milliseconds. */
const BUSY_MS = 500;

const NOTHING: Advance = { more: false, transitions: 0, triggers: 0 };

/** Carries out what is due in a journey. One that keeps failing is paused, with the reason. */
export async function advanceJourney(id: string): Promise<Advance> {
  const journey = await readPublished(id);
  if (journey === undefined) return NOTHING;
  const busy = {
    message: 'Other journeys of the project are being carried out; retrying shortly.',
    retryMs: BUSY_MS + Math.round(Math.random() * BUSY_MS),
  };
  return withSlot(slots.tryAcquire(journey.projectId), busy, () =>
    withHeartbeat((beat: (progress?: Advance) => void) =>
      stopAfterRepeatedErrors(
        `journey ${id}`,
        async () => {
          await checkNotHeld();
          return advance(journey, cancellationSignal(), beat);
        },
        async (reason) => {
          await pauseAutomatically(journey, `The journey could not continue: ${reason}`);
          return NOTHING;
        },
      ),
    ),
  );
}

/** Calls share the slots of webhooks, and take a quarter of them at most; a project takes half of those that are free. */
const callSlots = new FairShare(Math.ceil(config.WORKER_WEBHOOK_SLOTS / 4));

/** Makes the calls of a project's journeys to a host that are due. @returns whether more may be. */
export async function callJourneyHost(projectId: string, host: string): Promise<boolean> {
  const busy = { message: 'Other hosts are being called; retrying shortly.', retryMs: BUSY_MS };
  return withSlot(callSlots.tryAcquire(projectId), busy, () =>
    withHeartbeat(async () => {
      await checkNotHeld();
      return callHost(projectId, host, cancellationSignal());
    }),
  );
}
