import type * as journeys from '@postroom/journeys/activities';
import { continueAsNew, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import { activitiesOn } from './activities-on.ts';

const { advanceJourney } = activitiesOn<typeof journeys>('campaigns', {
  startToCloseTimeout: '10 minutes', // it works for 20 seconds, and a page may take long on a busy machine
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '15 seconds' },
  summary: 'Carry out what is due',
});

/**
 * Carries out what is due in a journey, and ends when nothing is: the dispatcher starts it again at the next due time. Everything
 * is in the rows of the enrollments; the history holds only counts.
 */
export async function runJourney(journeyId: string, transitions = 0): Promise<number> {
  for (let total = transitions; ;) {
    const done = await advanceJourney(journeyId);
    total += done.transitions;
    setCurrentDetails(`${total} steps carried out.`);
    if (!done.more) return total;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof runJourney>(journeyId, total);
  }
}
