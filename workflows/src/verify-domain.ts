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

/** Checks that one run makes, so that a history is a page long. */
const CHECKS_PER_RUN = 100;

/**
 * A domain for as long as it is there: its records are looked for, often at first, and every day for ever. How long to
 * wait is for the check to say. Each run begins with a check, so a signal between two runs is not lost.
 */
export async function verifyDomain(domainId: string): Promise<'gone'> {
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
    if (checks >= CHECKS_PER_RUN || workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof verifyDomain>(domainId);
    }
  }
}
