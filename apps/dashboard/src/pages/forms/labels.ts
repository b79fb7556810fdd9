import type { FormSubmissionStatus } from '../../generated/graphql.ts';
import type { Tone } from '../../components/badge.tsx';

type Label = [tone: Tone, label: string];

/** The tone and label of each state of a submission. */
export const SUBMISSION_STATUS: Record<FormSubmissionStatus, Label> = {
  pending: ['warn', 'Waiting to confirm'],
  blocked: ['bad', 'Suppressed address'],
  confirmed: ['good', 'Confirmed'],
  expired: ['quiet', 'Expired'],
};
