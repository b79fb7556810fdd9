import type * as abTests from '@postroom/ab-tests/activities';
import { setCurrentDetails, sleep } from '@temporalio/workflow';
import { activitiesOn } from './activities-on.ts';

const { endDueAbTest } = activitiesOn<typeof abTests>('campaigns', {
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '15 seconds' },
  summary: 'Choose the winner if the time is up',
});

/** Waits for the end of an A/B test and has its winner chosen and sent, unless a user chose one or canceled the test meanwhile. */
export async function endAbTest(id: string): Promise<void> {
  for (let waitMs = await endDueAbTest(id); waitMs !== null; waitMs = await endDueAbTest(id)) {
    setCurrentDetails(`The winner is chosen at ${new Date(Date.now() + waitMs).toISOString()}.`);
    await sleep(waitMs, { summary: 'Until the end of the test' });
  }
}
