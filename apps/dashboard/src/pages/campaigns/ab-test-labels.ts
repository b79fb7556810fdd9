import type { Tone } from '../../components/badge.tsx';
import type { AbTestMetric, AbTestStatus } from '../../generated/graphql.ts';

export const AB_TEST_STATUS: Record<AbTestStatus, [tone: Tone, label: string]> = {
  draft: ['quiet', 'Draft'],
  testing: ['busy', 'Testing'],
  completed: ['good', 'Completed'],
  canceled: ['quiet', 'Canceled'],
};

export const METRICS: Record<AbTestMetric, string> = { opens: 'Opens', clicks: 'Clicks' };
