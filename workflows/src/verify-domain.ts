import type * as domains from '@postroom/domains/activities';
import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';

/** A person's word, or the removal of the domain: look now, instead of when it is due. */
export const checkNow = defineSignal('checkNow');

const { checkDomain } = proxyActivities<typeof domains>({
  startToCloseTimeout: '90 seconds', // the look-ups end after 45
  retry: { initialInterval: '10 seconds', maximumInterval: '10 minutes' },
  summary: 'DNS look-ups',
});

/**
 * A domain for as long as it is there: its records are looked for, often at first, and every day for ever. How long to
 * wait is for the check to say. A run makes `checksPerRun` of them, so that its history is a page long; each begins with a
 * check, so a signal between two runs is not lost.
 */
export async function verifyDomain(domainId: string, checksPerRun = 100): Promise<'gone'> {
  let isAsked = false;
  setHandler(checkNow, () => {
    isAsked = true;
  });
  for (let checks = 1; ; checks++) {
    isAsked = false;
    const check = await checkDomain(domainId);
    if (check.outcome === 'gone') return 'gone';
    setCurrentDetails(check.details);
    await condition(() => isAsked, check.waitMs, { summary: 'Until the next check' });
    if (checks >= checksPerRun || workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof verifyDomain>(domainId, checksPerRun);
    }
  }
}
