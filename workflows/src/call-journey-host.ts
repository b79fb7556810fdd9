import type * as journeys from '@postroom/journeys/activities';
import { continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow';

const { callJourneyHost: call } = proxyActivities<typeof journeys>({
  startToCloseTimeout: '2 minutes', // it works for 20 seconds, and an attempt times out after 10
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '15 seconds' },
  summary: 'Call the URLs of journeys',
});

/** Makes the calls of a project's journeys to a host that are due, and ends when none is: the dispatcher starts it again. */
export async function callJourneyHost(projectId: string, host: string): Promise<void> {
  while (await call(projectId, host))
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof callJourneyHost>(projectId, host);
}
