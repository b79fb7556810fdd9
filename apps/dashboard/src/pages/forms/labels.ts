import type { FormSubmissionStatus } from '../../generated/graphql.ts';
import type { Tone } from '../../components/badge.tsx';

/** The tone and label of each state of a submission. */
export const SUBMISSION_STATUS: Record<FormSubmissionStatus, [tone: Tone, label: string]> = {
  pending: ['warn', 'Waiting to confirm'],
  confirmed: ['good', 'Confirmed'],
  expired: ['quiet', 'Expired'],
};
