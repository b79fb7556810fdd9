// `postroom after-restore`: finds out what may have been sent since the point that PostgreSQL was restored to, marks it unknown and
// lists it. `--release` then lets mail be sent again. See docs/how-to/restore.md.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { endTimersAfterRestore } from '@postroom/ab-tests';
import { pauseUncertain } from '@postroom/campaigns';
import { countOf, runCommand } from '@postroom/errors';
import { pauseAfterRestore } from '@postroom/journeys';
import {
  beginEpoch,
  findRestore,
  heldReason,
  listUncertain,
  markUncertain,
  releaseSending,
  type Uncertain,
} from '@postroom/ledger';
import { closeDatabase, useBackgroundTimeouts } from '@postroom/platform';
import { connectTemporal, sayOnce } from './temporal.ts';
import { dropFence } from './superseded.ts';
import { csvOf } from './uncertain-csv.ts';
import { useWitnesses } from './witnesses.ts';

const USAGE = `Usage: postroom after-restore [--release] [--list FILE]

Compares the database with its witnesses outside of it: Temporal, and SENDING_JOURNAL if set. Messages that may have been
sent since the restored point are marked unknown and listed; none of them is sent again. Run it while sending is held.

  --release     let mail be sent again; not while HOLD_SENDING is set
  --list FILE   write the messages as CSV: id, project, campaign, address`;

/** How long to wait for Temporal, in milliseconds. */
const CONNECT_TIMEOUT_MS = 30_000;

await runCommand('postroom after-restore', async () => {
  const { values: options } = parseArgs({
    options: {
      release: { type: 'boolean' },
      list: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
      data: { type: 'string' },
    },
  });
  if (options.help === true) console.log(USAGE);
  else await compare(options);
});
await closeDatabase();

async function compare(options: { release?: boolean | undefined; list?: string | undefined }): Promise<void> {
  useBackgroundTimeouts();
  const { client, close } = await connectTemporal(AbortSignal.timeout(CONNECT_TIMEOUT_MS), sayOnce());
  try {
    useWitnesses(client);
    await markRestored();
    list(await listUncertain(), options.list);
    if (options.release === true) {
      if (await releaseSending()) console.log('Sending is released.');
      await dropFence();
    }
    const reason = await heldReason();
    if (reason !== undefined) console.log(`Sending is held: ${reason}`);
  } finally {
    await close();
  }
}

/** Marks what may have been sent since the point that the database was restored to. */
async function markRestored(): Promise<void> {
  const restored = await findRestore();
  if (restored === undefined) {
    console.log('The database is as new as its witnesses know.');
    return;
  }
  const { before, reservations, recoveredUntil } = restored;
  console.log(
    `The database was restored to reservation ${before.number} of epoch ${before.epoch}. Checking ${countOf(reservations.length, 'later reservation')}.`,
  );
  if (recoveredUntil !== null)
    console.log(
      `The last commit that PostgreSQL recovered is from ${recoveredUntil.toISOString()}. Requests that were accepted after it are gone: emails, contacts, unsubscribes and all other changes.`,
    );
  let marked = 0;
  for (const reservation of reservations) {
    marked += await markUncertain(reservation);
    const problem = await pauseUncertain(reservation);
    if (problem !== undefined) console.log(problem);
  }
  const journeys = await pauseAfterRestore();
  if (journeys > 0) console.log(`Paused ${countOf(journeys, 'journey')}, to repeat nothing that was done since then.`);
  const abTests = await endTimersAfterRestore();
  if (abTests > 0)
    console.log(
      `A user has to choose the winner of ${countOf(abTests, 'A/B test')}, because it may have been sent since then.`,
    );
  await beginEpoch(restored);
  console.log(`Marked ${countOf(marked, 'message')} as unknown, because mail may have been sent since then.`);
}

/** Prints a line per campaign and per project, and writes the file if one was named. */
function list(uncertain: Uncertain[], file: string | undefined): void {
  const groups = Map.groupBy(
    uncertain,
    ({ projectId, campaignId }) => campaignId ?? `transactional mail of ${projectId}`,
  );
  if (uncertain.length > 0) console.log('Unknown because of restores, until they are resolved or resent:');
  for (const [name, messages] of groups) console.log(`  ${name}: ${messages.length}`);
  if (file === undefined) return;
  writeFileSync(file, csvOf(uncertain), { mode: 0o600 });
  console.log(`Written to ${file}.`);
}
