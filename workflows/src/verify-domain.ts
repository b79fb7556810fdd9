import type * as domains from '@postroom/domains/activities';
import {
  condition,
  continueAsNew,
  defineSignal,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { activitiesOn } from './activities-on.ts';

/** Sent by a user, or when the domain is removed: check now instead of when the next check is due. */
export const checkNow = defineSignal('checkNow');

const { checkDomain } = activitiesOn<typeof domains>('maintenance', {
  startToCloseTimeout: '90 seconds', // lookups end after 45
  retry: { initialInterval: '10 seconds', maximumInterval: '10 minutes' },
  summary: 'DNS lookups',
});

/**
 * Checks a domain's DNS records for as long as the domain exists: often at first, then daily. Each check returns the wait until
 * the next. A run makes `checksPerRun` checks to keep its history short. Each run starts with a check, so a signal that arrives
 * between two runs is not lost.
 */
export async function verifyDomain(domainId: string, checksPerRun = 100): Promise<'gone'> {
  let checkRequested = false;
  setHandler(checkNow, () => {
    checkRequested = true;
  });
  for (let checks = 1; ; checks++) {
    checkRequested = false;
    const check = await checkDomain(domainId);
    if (check.outcome === 'gone') return 'gone';
    setCurrentDetails(check.details);
    await condition(() => checkRequested, check.waitMs, { summary: 'Until the next check' });
    if (checks >= checksPerRun || workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof verifyDomain>(domainId, checksPerRun);
    }
  }
}
