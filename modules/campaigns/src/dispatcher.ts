import type { DispatchSource } from '@postroom/platform/dispatcher';
import { MAIL_POLICY } from '@postroom/ledger';
import { pauseOverThreshold } from './send-monitor.ts';

/** Pauses campaigns over a threshold. */
export const source: DispatchSource = {
  name: 'campaigns',
  tasks: [{ intervalMs: MAIL_POLICY.campaign.monitorIntervalMs, run: () => pauseOverThreshold(null) }],
};
