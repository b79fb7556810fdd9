import { newId } from '@postroom/platform';
import { STRUGGLING_AFTER } from './limits.ts';
import { BATCH_SIZE } from './queue.ts';

/**
 * First attempts in hand at most, of one endpoint and of all: what Temporal and the workers hold, however much waits. An
 * endpoint gets a second and a third batch at a time once it is seen to acknowledge.
 */
const IN_HAND_PER_ENDPOINT = BATCH_SIZE;
const IN_HAND_WHEN_FLOWING = 3 * BATCH_SIZE;
const IN_HAND = 100 * BATCH_SIZE;

/** Deliveries of one endpoint that wait in workflows for another attempt; past this, new ones wait in the table. */
const WAITING_PER_ENDPOINT = 1_000;

/** For an endpoint that struggles: so many deliveries in hand, and then one more as a probe each half minute. */
const STRUGGLING_IN_HAND = 20;
const STRUGGLING_FIRST_ATTEMPTS = 2;
export const PROBE_EVERY_MS = 30_000;

/** An endpoint's part of a batch that is worth a batch of its own. */
const OWN_BATCH_FROM = 25;

/** An endpoint for which deliveries wait, as the tables have it. */
export interface Waiting {
  endpointId: string;
  /** Deliveries not attempted yet, counted up to a batch. */
  waiting: number;
  failuresInRow: number;
  /** Whether first attempts were seen to come back lately, and none failed. */
  isFlowing: boolean;
  /** First attempts in hand. */
  attempting: number;
  /** Deliveries whose workflows wait for another attempt. */
  retrying: number;
  /** Milliseconds since one was last handed over; `null` when none is in hand. */
  idleMs: number | null;
}

/** What to take: so many of an endpoint, each alone (`batch: null`) or into the batch whose workflow has that id. */
export interface Take {
  endpointId: string;
  take: number;
  batch: string | null;
}

/**
 * Decides what to hand over now. Every endpoint gets its turn before any gets more than a batch; what fits into `alone`
 * starts one workflow each, and in a burst the first attempts go in batches, many of one endpoint together and few of many
 * endpoints together. Probes of struggling endpoints are always alone.
 */
export function plan(waiting: readonly Waiting[], { alone, inHand }: { alone: number; inHand: number }): Take[] {
  const struggling = waiting.filter(isStruggling);
  const well = waiting.filter((one) => !isStruggling(one));
  const probes = struggling.map((one) => ({ endpointId: one.endpointId, take: probe(one), batch: null }));
  const wanted = share(well, Math.max(0, IN_HAND - inHand));
  const total = wanted.reduce((sum, { take }) => sum + take, 0);
  const rest = total <= alone ? wanted.map((one) => ({ ...one, batch: null })) : intoBatches(wanted);
  return [...probes, ...rest].filter(({ take }) => take > 0);
}

const isStruggling = ({ failuresInRow }: Waiting) => failuresInRow >= STRUGGLING_AFTER;

function probe({ waiting, attempting, retrying, idleMs }: Waiting): number {
  const room = Math.min(STRUGGLING_IN_HAND - attempting - retrying, STRUGGLING_FIRST_ATTEMPTS - attempting);
  if (room > 0) return Math.min(waiting, room);
  const isDue = attempting === 0 && (idleMs === null || idleMs >= PROBE_EVERY_MS);
  return isDue ? Math.min(waiting, 1) : 0;
}

/** Up to a batch of each endpoint; when there is less room than that, as evenly as it can be shared. */
function share(waiting: readonly Waiting[], room: number): { endpointId: string; take: number }[] {
  const wanted = waiting.map((one) => ({ endpointId: one.endpointId, take: wish(one) }));
  let left = room;
  let others = wanted.length;
  for (const one of wanted.toSorted((a, b) => a.take - b.take)) {
    one.take = Math.min(one.take, Math.floor(left / others));
    left -= one.take;
    others--;
  }
  return wanted;
}

function wish({ waiting, isFlowing, attempting, retrying }: Waiting): number {
  if (retrying >= WAITING_PER_ENDPOINT) return 0;
  const room = (isFlowing ? IN_HAND_WHEN_FLOWING : IN_HAND_PER_ENDPOINT) - attempting;
  return Math.max(0, Math.min(waiting, BATCH_SIZE, room));
}

function intoBatches(wanted: readonly { endpointId: string; take: number }[]): Take[] {
  let shared: { batch: string; size: number } | undefined;
  return wanted.map(({ endpointId, take }) => {
    if (take >= OWN_BATCH_FROM) return { endpointId, take, batch: batchId() };
    if (shared === undefined || shared.size + take > BATCH_SIZE) shared = { batch: batchId(), size: 0 };
    shared.size += take;
    return { endpointId, take, batch: shared.batch };
  });
}

/** Sorts by time, and is no delivery's id. */
const batchId = () => newId('dlv').replace('dlv_', 'batch_');
